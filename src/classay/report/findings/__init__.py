"""What the figures say: one rule a finding, by subject."""
