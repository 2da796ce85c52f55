"""Which of k stimuli caused a response: how well responses identify stimuli, for every k.

Read `identify` first (the result, the verb, and how candidates are scored). `responses` checks stimuli and responses,
splits them, and models the noise; `encoders` has the models that predict a response from a stimulus.
"""
