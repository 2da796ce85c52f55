"""Labels that are wrong: `label_model` (wrong labels and overlap) and `wrong_labels` (which, and how many)."""
