"""How many bits predictions carry about the class, and how well the best possible classifier does at least.

Read `information` first (implied information, the guaranteed lower bound, Fano's bound). `channel` has the functions
between information and accuracy and their fit to a curve, `bayes` the lower bound on the average Bayes accuracy with
its proof, `decoders` a table that orders several decoders, `lead` accuracy from the lead of the true class and back.
"""

from .bayes import bayes_accuracy_bound
from .decoders import decoders
from .information import fano_information, implied_information, information_bound
from .lead import accuracy_from_lead, lead_from_accuracy

__all__ = [
    "accuracy_from_lead",
    "bayes_accuracy_bound",
    "decoders",
    "fano_information",
    "implied_information",
    "information_bound",
    "lead_from_accuracy",
]
