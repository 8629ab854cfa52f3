"""The public names of accountant.curves, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.compositions.batches import Batches as Batches
from accountant.compositions.batches import draw_batches as draw_batches
from accountant.compositions.events import Composition as Composition
from accountant.compositions.events import Direction as Direction
from accountant.compositions.events import Event as Event
from accountant.compositions.events import MechanismKind as MechanismKind
from accountant.compositions.events import make_event as make_event
from accountant.compositions.matrices import StrategyMatrix as StrategyMatrix
from accountant.compositions.matrices import make_matrix as make_matrix
from accountant.compositions.matrices import read_matrix as read_matrix
from accountant.compositions.queries import CurvePoint as CurvePoint
from accountant.compositions.sensitivity import Participation as Participation
from accountant.compositions.sensitivity import Sensitivity as Sensitivity
from accountant.compositions.sensitivity import bound_sensitivity as bound_sensitivity
from accountant.compositions.toml_format import DeclaredEvents as DeclaredEvents
from accountant.compositions.toml_format import read_composition as read_composition
from accountant.compositions.toml_format import read_composition_file as read_composition_file
from accountant.compositions.toml_format import write_composition as write_composition
from accountant.curves.accounting import Account as Account
from accountant.curves.accounting import account as account
from accountant.curves.curve import PrivacyCurve as PrivacyCurve
from accountant.curves.curve import compose as compose
from accountant.curves.curve import curve_of as curve_of
from accountant.curves.curve import curve_of_file as curve_of_file
from accountant.curves.curve import subsample as subsample
from accountant.curves.matrices import declare_matrix as declare_matrix
