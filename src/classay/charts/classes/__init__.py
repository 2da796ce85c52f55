"""Charts of label sets: `curve` (accuracy or cost by number of classes) and `information` (bits, identification)."""
