"""Posterior draws of constant work."""
