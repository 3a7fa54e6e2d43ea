"""Views with one clock: fl.compare()."""

import pytest
from scope_pages import show_pair

import flitlab as fl


def view(load=0.2, cycles=0):
    return fl.Network(fl.load("vc-mesh-8x8").set("traffic.load", load), trace=True).step(cycles).view()


def test_a_page_of_two_views_shows_them_in_the_same_cycle(page, tmp_path):
    a, b = view(0.1), view(0.4)
    fl.compare(a, b).step(30).save(tmp_path / "both.html")
    assert (a.cycle, b.cycle) == (30, 30)
    page.goto((tmp_path / "both.html").as_uri())
    page.wait_for_function("() => document.querySelectorAll('.flitlab-scope[data-cycle=\"30\"]').length === 2")
    page.locator("[data-do=back1]").first.click()
    page.wait_for_function("() => document.querySelectorAll('.flitlab-scope[data-cycle=\"29\"]').length === 2")
    abouts = page.locator(".scope-about").all_inner_texts()
    assert "uniform at 0.1" in abouts[0] and "uniform at 0.4" in abouts[1]


def test_views_of_nothing_recorded_have_a_hundred_cycles(tmp_path):
    a, b = view(), view(0.3)
    fl.compare(a, b).save(tmp_path / "both.html")
    assert (a.cycle, b.cycle) == (100, 100) and a.clock == b.clock != ""


def test_what_cannot_be_compared_is_refused():
    a = view()
    for given, message in (((a,), r"compare\(\) of 1 views: it needs two or more views"),
                           ((a, 3), r"compare\(\.\.\. 3 \.\.\.\)"), ((a, a), "a view is given twice"),
                           ((a, view(cycles=5)), "the networks are at cycles 0, 5; step them to the same cycle")):
        with pytest.raises(fl.ConfigError, match=message):
            fl.compare(*given)


def test_networks_that_have_gone_apart_are_refused(tmp_path):
    a, b = view(), view(0.3)
    both = fl.compare(a, b)
    a.step(5)
    with pytest.raises(fl.ConfigError, match=r"save\(\): the networks are at cycles 5, 0"):
        both.save(tmp_path / "both.html")


def test_scopes_without_a_common_cycle_pause(page):
    """One of two live scopes runs on, so that the recordings do not overlap; they say so, and remain usable."""
    show_pair(page, [view(load).step(30) for load in (0.1, 0.4)])
    page.evaluate("""() => { const { recording } = scopes[0], frame = recording.frame(30);
        for (let c = 31; c < 400; ++c) recording.append([{ ...frame, c, rows: undefined, v: [], e: [] }], 20);
        scopes[0].show(); }""")
    page.locator("#b [data-do=play]").click()
    page.wait_for_function(
        "() => /no recorded cycle in common/.test(document.querySelector('#a .scope-note').textContent)")
    assert page.evaluate("() => scopes.map((s) => s.playing)") == [False, False]
    page.locator("#b [data-do=step1]").click()
    assert page.evaluate("() => scopes[1].cycle") == 1


def test_the_search_for_a_waiting_flit_pauses_both_scopes(page):
    show_pair(page, [view(load).step(60) for load in (0.5, 0.6)])
    page.locator("#a [data-do=first]").click()
    page.locator("#a [data-do=play]").click()
    page.wait_for_function("() => scopes[0].cycle > 3")
    page.locator("#b [data-do=next_blocked]").click()
    assert page.evaluate("() => scopes.map((s) => s.playing)") == [False, False]
    assert page.evaluate("() => scopes[0].cycle === scopes[1].cycle")
