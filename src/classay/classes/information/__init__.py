"""How many bits predictions carry about the class, and how well the best possible classifier does at least.

Read `information` first (implied information, the guaranteed lower bound, Fano's bound, several decoders ranked).
`channel` has the functions between information and accuracy and their fit to a curve, `bayes` the lower bound on the
average Bayes accuracy with its proof.
"""

from .channel import average_bayes_accuracy, least_information, most_accuracy

__all__ = ["average_bayes_accuracy", "least_information", "most_accuracy"]
