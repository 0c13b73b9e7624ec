import assert from "node:assert/strict";
import test from "node:test";

import { NotationError, formatDuration, parseDuration } from "../src/index.js";

test("writes hours and minutes", () => {
  assert.equal(formatDuration(5400), "1h 30m");
});

test("writes nothing as zero seconds", () => {
  assert.equal(formatDuration(0), "0s");
});

test("refuses a negative duration", () => {
  assert.throws(() => formatDuration(-1), NotationError);
});

test("refuses an unknown unit", () => {
  assert.throws(() => parseDuration("3 parsecs"), NotationError);
});
