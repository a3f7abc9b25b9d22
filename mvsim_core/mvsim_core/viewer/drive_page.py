# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The part of the driving that runs in the browser: keys, joystick and gamepad.

viser has no key-up events, no joystick and no gamepads. What it does have are HTML elements, and a
text field whose changes reach the server: the script below writes what is steered into that field.
"""

from __future__ import annotations

import json
from typing import NamedTuple

#: What the text of the field begins with, by which the script finds it.
MARK = "mvsim-drive "

#: Forward: W, up. Back: S, down. Turn: A and D, left and right. Sideways: Q and E.
_SCRIPT = """
(function () {
  if (window.mvsimDrive) return;
  window.mvsimDrive = true;
  const MARK = "mvsim-drive ", held = new Set(), pad = {f: 0, t: 0, on: false};
  const KEYS = {KeyW: [1, 0, 0], ArrowUp: [1, 0, 0], KeyS: [-1, 0, 0], ArrowDown: [-1, 0, 0],
    KeyA: [0, 1, 0], ArrowLeft: [0, 1, 0], KeyD: [0, -1, 0], ArrowRight: [0, -1, 0],
    KeyQ: [0, 0, 1], KeyE: [0, 0, -1]};
  const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  let number = 0, moving = false;
  function field() {
    return [...document.querySelectorAll("input")].find((i) => i.value.startsWith(MARK));
  }
  function keysOn() {
    const e = document.getElementById("mvsim-drive");
    return e !== null && e.dataset.keys === "1";
  }
  function typing(e) {
    const t = e.target, tag = t && t.tagName;
    return (tag === "INPUT" && t.type !== "checkbox") || tag === "TEXTAREA" ||
      (t && t.isContentEditable);
  }
  function onKey(e, down) {
    if (!(e.code in KEYS)) return;
    if (down && (typing(e) || e.ctrlKey || e.metaKey || e.altKey || !keysOn())) return;
    if (!down && !held.has(e.code)) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    if (down) held.add(e.code); else held.delete(e.code);
    send();
  }
  function gamepad() {
    for (const g of navigator.getGamepads ? navigator.getGamepads() : []) {
      if (!g || !g.connected) continue;
      const dead = (v) => Math.abs(v || 0) < 0.12 ? 0 : v;
      const f = -dead(g.axes[1]), t = -dead(g.axes[2]) || -dead(g.axes[0]);
      if (f || t) return {f: f, t: t};
    }
    return {f: 0, t: 0};
  }
  function state() {
    let f = pad.f, t = pad.t, s = 0;
    for (const k of held) { f += KEYS[k][0]; t += KEYS[k][1]; s += KEYS[k][2]; }
    const g = gamepad();
    const clip = (v) => Math.max(-1, Math.min(1, Math.round(v * 100) / 100));
    return {f: clip(f + g.f), t: clip(t + g.t), s: clip(s)};
  }
  function send() {
    const now = state(), moves = now.f !== 0 || now.t !== 0 || now.s !== 0;
    if (!moves && !moving) return;
    moving = moves;
    const e = field();
    if (!e) return;
    now.n = ++number;
    write.call(e, MARK + JSON.stringify(now));
    e.dispatchEvent(new Event("input", {bubbles: true}));
  }
  window.addEventListener("keydown", (e) => onKey(e, true), true);
  window.addEventListener("keyup", (e) => onKey(e, false), true);
  window.addEventListener("blur", () => { held.clear(); send(); });
  function drag(e) {
    const c = document.getElementById("mvsim-pad");
    if (!c) return;
    const r = c.getBoundingClientRect(), half = r.width / 2;
    let x = (e.clientX - r.left - half) / half, y = (e.clientY - r.top - half) / half;
    const far = Math.max(1, Math.hypot(x, y));
    pad.f = -y / far; pad.t = -x / far; pad.on = true;
    knob();
    send();
  }
  function knob() {
    const k = document.getElementById("mvsim-knob");
    if (k) k.setAttribute("transform", "translate(" + -60 * pad.t + "," + -60 * pad.f + ")");
  }
  function release() {
    if (!pad.on) return;
    pad.f = pad.t = 0; pad.on = false;
    knob();
    send();
  }
  document.addEventListener("pointerdown", (e) => {
    if (e.target.closest && e.target.closest("#mvsim-pad")) { drag(e); e.preventDefault(); }
  });
  document.addEventListener("pointermove", (e) => { if (pad.on) drag(e); });
  document.addEventListener("pointerup", release);
  document.addEventListener("pointercancel", release);
  setInterval(send, 100);
  function hide() {
    const e = field();
    if (!e) return;
    let row = e;
    while (row.parentElement && !row.parentElement.querySelector("#mvsim-drive")) {
      row = row.parentElement;
    }
    if (row.style.display !== "none") row.style.display = "none";
  }
  setInterval(hide, 250);
  hide();
})();
"""


class Stick(NamedTuple):
    """What a browser steers, each from -1 to 1.

    Attributes:
        forward: Forward.
        turn: To the left.
        sideways: To the left.
    """

    forward: float = 0.0
    turn: float = 0.0
    sideways: float = 0.0


def page(*, keys: bool) -> str:
    """Return the HTML that holds the script; `keys`: whether keys drive."""
    code = _SCRIPT.replace("&", "&amp;").replace('"', "&quot;")
    # Scripts in HTML that is inserted do not run, handlers of events do.
    script = f'<img src="data:," alt="" style="display:none" onerror="{code}">'
    return f'<div id="mvsim-drive" data-keys="{int(keys)}">{script}</div>'


JOYSTICK = """
<div style="display:flex;justify-content:center;padding:0.4em">
<svg id="mvsim-pad" width="132" height="132" viewBox="-66 -66 132 132"
 style="touch-action:none;cursor:grab">
<circle r="64" fill="#e9edf2" stroke="#b8c2cc"/>
<path d="M0-54l6 10h-12zM0 54l6-10h-12zM-54 0l10 6v-12zM54 0l-10 6v-12z" fill="#9aa7b4"/>
<circle id="mvsim-knob" r="20" fill="#2860aa"/>
</svg></div>
"""


def stick_of(text: str) -> Stick | None:
    """Return what the text of the field says; None: it says nothing."""
    if not text.startswith(MARK):
        return None
    try:
        values = json.loads(text[len(MARK) :])
        numbers = [float(values[key]) for key in ("f", "t", "s")]
    except (ValueError, TypeError, KeyError):
        return None
    if not all(abs(v) <= 1.0 for v in numbers):  # false for NaN
        return None
    return Stick(*numbers)
