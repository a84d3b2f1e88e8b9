"""Objective perturbation in a private metric."""
