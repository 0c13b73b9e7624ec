import assert from "node:assert/strict";
import test from "node:test";

import * as units from "../src/units.js";

test("units go from large to small", () => {
  const lengths = units.UNITS.map((unit) => unit.seconds);
  assert.deepEqual(lengths, [...lengths].sort((a, b) => b - a));
});

test("a unit is found by its symbol", () => {
  assert.equal(units.unitOf("m").seconds, 60);
  assert.equal(units.unitOf("x"), undefined);
});
