"""Audits: what a release really costs, exactly, by simulation, and from outside."""

from skdp.audit._diagnostics import FitDiagnostics, fit_diagnostics
from skdp.audit._exact_curve import ExactCurve, exact_curve
from skdp.audit._lower_bound import EpsilonLowerBound, lower_bound
from skdp.audit._pdp import exact_pdp_loss
from skdp.audit._simulated import SimulatedDelta, simulated_delta
from skdp.audit._timing import TimingAudit, TimingEvidence, timing
from skdp.audit._work_trace import WorkTrace, work_trace

__all__ = [
    "EpsilonLowerBound",
    "ExactCurve",
    "FitDiagnostics",
    "SimulatedDelta",
    "TimingAudit",
    "TimingEvidence",
    "WorkTrace",
    "exact_curve",
    "exact_pdp_loss",
    "fit_diagnostics",
    "lower_bound",
    "simulated_delta",
    "timing",
    "work_trace",
]
