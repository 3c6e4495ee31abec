"""The same problems for OR-Tools CP-SAT: a boolean per item and position, a circuit over the items for flow."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from ortools.sat.python import cp_model

from fabula.core.solver import Constraints, Goal
from fabula.core.solver.instance import Instance, pose
from fabula.core.solver.problem import Problem, describe, side_room

GRAIN = 1e-5  # of costs, which CP-SAT takes as whole numbers


@dataclass(frozen=True)
class Solved:
    worst: float
    objective: float
    bound: float
    seconds: float


def solve(
    goal: Goal, flow: np.ndarray | None, constraints: Constraints, sizes: tuple[int, ...], seconds: float
) -> Solved | None:
    """The best arrangement CP-SAT finds for sides of these sizes; None when it finds none."""
    start = time.perf_counter()
    problem = pose(Problem(goal, flow, constraints), sizes, side_room(constraints))
    if problem is None:
        return None
    limit = np.inf
    if flow is None:  # the largest deviation first
        model, x = _model(problem, limit)
        worst = model.new_int_var(0, int(np.ceil(problem.cost[np.isfinite(problem.cost)].max() / GRAIN)), "worst")
        for (i, p), taken in x.items():
            model.add(worst >= round(float(problem.cost[i, p]) / GRAIN)).only_enforce_if(taken)
        model.minimize(worst)
        solver = _run(model, seconds / 2)
        if solver is None:
            return None
        limit = (solver.objective_value + 1) * GRAIN
    model, x = _model(problem, limit)
    costs = [round(float(problem.cost[i, p]) / GRAIN) * taken for (i, p), taken in x.items()]
    model.minimize(sum(costs) + (_flow(problem, model, x) if flow is not None else 0))
    solver = _run(model, seconds if flow is not None else seconds / 2)
    if solver is None:
        return None
    ordering = np.empty(len(problem.cost), dtype=np.intp)
    for (i, p), taken in x.items():
        if solver.value(taken):
            ordering[p] = i
    told = describe(Problem(goal, flow, constraints), problem.items(ordering), sizes)
    bound = solver.best_objective_bound * GRAIN
    return Solved(told.worst or 0.0, told.objective, bound, time.perf_counter() - start)


def _run(model: cp_model.CpModel, seconds: float) -> cp_model.CpSolver | None:
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    return solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None


def _model(problem: Instance, limit: float) -> tuple[cp_model.CpModel, dict[tuple[int, int], cp_model.IntVar]]:
    """Everything but the costs; no position cost above the limit."""
    model, n = cp_model.CpModel(), len(problem.cost)
    places = np.argwhere(np.isfinite(problem.cost) & (problem.cost <= limit)).tolist()
    x = {(i, p): model.new_bool_var("") for i, p in places}
    rows = [[x[i, p] for p in range(n) if (i, p) in x] for i in range(n)]
    for i in range(n):
        model.add_exactly_one(rows[i])
        model.add_exactly_one(x[k, i] for k in range(n) if (k, i) in x)
    position = [sum(p * x[i, p] for p in range(n) if (i, p) in x) for i in range(n)]
    for run in problem.constraints.together:
        for a, b in pairwise(run):
            model.add(position[b] == position[a] + 1)
    for a, b in problem.before.T.tolist():
        model.add(position[a] < position[b])
    labels = problem.constraints.apart
    for label in range(0 if labels is None else int(labels.max()) + 1):
        group = np.flatnonzero(labels == label).tolist()
        for p in range(n - 1):
            model.add_at_most_one(x[i, q] for i in group for q in (p, p + 1) if (i, q) in x)
    for zone in range(len(problem.sizes)):
        if np.isfinite(problem.most[zone]):
            inside = [(int(problem.lengths[i] * 100), taken) for (i, p), taken in x.items() if problem.zone[p] == zone]
            model.add(sum(length * taken for length, taken in inside) <= int(problem.most[zone] * 100) + 1)
    return model, x


def _flow(problem: Instance, model: cp_model.CpModel, x: dict[tuple[int, int], cp_model.IntVar]) -> cp_model.LinearExpr:
    """The cost of neighbours: a circuit through all items and back by way of a depot."""
    n = len(problem.cost)
    position = [model.new_int_var(0, n - 1, "") for _ in range(n)]
    for i in range(n):
        model.add(position[i] == sum(p * x[i, p] for p in range(n) if (i, p) in x))
    arcs, costs = [], []
    for i in range(n):
        for k in np.flatnonzero(np.isfinite(problem.link[i])).tolist():
            taken = model.new_bool_var("")
            arcs.append((i, k, taken))
            model.add(position[k] == position[i] + 1).only_enforce_if(taken)
            costs.append(round(float(problem.link[i, k]) / GRAIN) * taken)
        arcs.append((n, i, x[i, 0] if (i, 0) in x else model.new_constant(0)))
        arcs.append((i, n, x[i, n - 1] if (i, n - 1) in x else model.new_constant(0)))
    model.add_circuit(arcs)
    return sum(costs)
