"""What every room of the lab is made of.

A room says its question, its scenario as a function of controls, its answer and its claims. The
frame makes of it a notebook, a static page, a line of the index, and tests.
"""

from raidlab.notebooks.frame.figures import Box as Box
from raidlab.notebooks.frame.figures import along as along
from raidlab.notebooks.frame.figures import figure as figure
from raidlab.notebooks.frame.figures import measured as measured
from raidlab.notebooks.frame.figures import spanned as spanned
from raidlab.notebooks.frame.judged import Busiest as Busiest
from raidlab.notebooks.frame.judged import best_rate as best_rate
from raidlab.notebooks.frame.judged import busiest as busiest
from raidlab.notebooks.frame.judged import doubted as doubted
from raidlab.notebooks.frame.judged import may_carry as may_carry
from raidlab.notebooks.frame.live import Live as Live
from raidlab.notebooks.frame.loss import losses as losses
from raidlab.notebooks.frame.mechanisms import bars_in_time as bars_in_time
from raidlab.notebooks.frame.pictures import Axis as Axis
from raidlab.notebooks.frame.pictures import Series as Series
from raidlab.notebooks.frame.pictures import bars as bars
from raidlab.notebooks.frame.pictures import dashed as dashed
from raidlab.notebooks.frame.pictures import legend as legend
from raidlab.notebooks.frame.pictures import lines as lines
from raidlab.notebooks.frame.pictures import mark as mark
from raidlab.notebooks.frame.pictures import parts as parts
from raidlab.notebooks.frame.pictures import squares as squares
from raidlab.notebooks.frame.pictures import stages as stages
from raidlab.notebooks.frame.queues import queueing as queueing
from raidlab.notebooks.frame.queues import visits as visits
from raidlab.notebooks.frame.room import Answer as Answer
from raidlab.notebooks.frame.room import Choice as Choice
from raidlab.notebooks.frame.room import Claim as Claim
from raidlab.notebooks.frame.room import Control as Control
from raidlab.notebooks.frame.room import Curve as Curve
from raidlab.notebooks.frame.room import Exercise as Exercise
from raidlab.notebooks.frame.room import Listing as Listing
from raidlab.notebooks.frame.room import Number as Number
from raidlab.notebooks.frame.room import Picture as Picture
from raidlab.notebooks.frame.room import Prediction as Prediction
from raidlab.notebooks.frame.room import Room as Room
from raidlab.notebooks.frame.room import Values as Values
from raidlab.notebooks.frame.running import at_once as at_once
from raidlab.notebooks.frame.running import progress as progress
from raidlab.notebooks.frame.running import recorded as recorded
from raidlab.notebooks.frame.running import run as run
from raidlab.notebooks.frame.running import run_all as run_all
from raidlab.notebooks.frame.running import traced as traced
from raidlab.notebooks.frame.scenes import Dot as Dot
from raidlab.notebooks.frame.scenes import Key as Key
from raidlab.notebooks.frame.scenes import Scene as Scene
from raidlab.notebooks.frame.scenes import Shape as Shape
from raidlab.notebooks.frame.scenes import Step as Step
from raidlab.notebooks.frame.scenes import label as label
from raidlab.notebooks.frame.scenes import path as path
from raidlab.scenarios.report.chart import chart as chart
from raidlab.scenarios.report.chart import draw_curve as draw_curve
from raidlab.scenarios.report.chart import write_note as write_note
from raidlab.scenarios.report.look import log_axis as log_axis
from raidlab.scenarios.results.number_text import digits as digits
from raidlab.scenarios.results.number_text import part_name as part_name
from raidlab.scenarios.results.number_text import percent as percent
