#!/usr/bin/env python3
"""Epsilon of private training against dp-accounting and Opacus, for random lengths, noises and deltas.

    python privacy_accounting.py PROGRAM        PROGRAM is private_epsilons

Participations that were counted: the Gaussian mechanism composed with itself, against a privacy loss distribution of dp-accounting
whose own rounding goes up. Steps that draw by chance: Renyi accounting at the same orders as Opacus. Both within 1e-3. The Renyi
accounting of dp-accounting 0.6 adds up the series of an order that is no whole number without its signs, and leaves out orders
whose series is long, so that its epsilon can be larger: ours must not be above it, and is the same where its best order is a large
one. tst_gaussian_privacy compares with integrals. Exits with 77 (skipped) where one of the two is missing.
"""
import logging
import random
import subprocess
import sys
import warnings

try:
    import dp_accounting
    from dp_accounting import pld, rdp
    from opacus.accountants.analysis import rdp as opacus_rdp
except ImportError as missing:
    print(f"{missing.name} is not installed (run packaging/oracle-env.sh): skipped")
    sys.exit(77)

CASES = 100
TOLERANCE = 1e-3
ORDERS = [1 + x / 10 for x in range(1, 100)] + list(range(11, 64)) + [128, 256, 512, 1024]
LARGE = 12 # above it no order with a fraction can be the best


def takes(count, noise, delta):
    accountant = pld.PLDAccountant(value_discretization_interval=1e-3)
    accountant.compose(dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(noise), count))
    return accountant.get_epsilon(delta)


def coins(count, noise, delta, rate):
    """By Opacus and by dp-accounting, with the best order of the latter."""
    accountant = rdp.RdpAccountant(ORDERS)
    accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise)), count)
    spent = opacus_rdp.compute_rdp(q=rate, noise_multiplier=noise, steps=count, orders=ORDERS)
    return opacus_rdp.get_privacy_spent(orders=ORDERS, rdp=spent, delta=delta)[0], *accountant.get_epsilon_and_optimal_order(delta)


def differ(ours, theirs):
    return (ours - theirs) / max(theirs, 1e-2)


def main():
    warnings.filterwarnings("ignore") # the best order is often the last one
    logging.disable(logging.WARNING)
    dice = random.Random(25)
    cases = []
    for _ in range(CASES):
        noise = round(10 ** dice.uniform(-0.3, 1), 3)
        delta = 10 ** dice.randint(-9, -3)
        cases.append(("takes", dice.randint(1, 20), noise, delta, 0))
        cases.append(("coins", int(10 ** dice.uniform(0, 4)), noise, delta, round(10 ** dice.uniform(-4, -0.1), 6)))
    lines = "".join(" ".join(map(str, case)) + "\n" for case in cases)
    ours = [float(line) for line in subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True).stdout.split()]
    assert len(ours) == len(cases)
    same = 0
    for case, epsilon in zip(cases, ours):
        kind, count, noise, delta, rate = case
        if kind == "takes":
            theirs, is_same = takes(count, noise, delta), True
            same += 1
        else:
            by_opacus, theirs, order = coins(count, noise, delta, rate)
            if abs(differ(epsilon, max(0, by_opacus))) > TOLERANCE:
                sys.exit(f"{case}: {epsilon} here, {by_opacus} by Opacus")
            is_same = order > LARGE
            same += is_same
        if differ(epsilon, theirs) > TOLERANCE or (is_same and differ(epsilon, theirs) < -TOLERANCE):
            sys.exit(f"{case}: {epsilon} here, {theirs} by dp-accounting")
    if same < len(cases) * 0.6:
        sys.exit(f"only {same} of {len(cases)} could be compared with dp-accounting")
    print(f"{len(cases)} epsilons agree, {same} of them with dp-accounting too")


if __name__ == "__main__":
    main()
