"""The panels: one file each; they never import each other."""
