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

test("writes weeks and days", () => {
  assert.equal(formatDuration(788645), "1w 2d 3h 4m 5s");
});

test("reads weeks and days", () => {
  assert.equal(parseDuration("1w 2d"), 777600);
});

test("keeps only the largest parts", () => {
  assert.equal(formatDuration(93784, { maxParts: 2 }), "1d 2h");
});

test("refuses a limit below one part", () => {
  assert.throws(() => formatDuration(5400, { maxParts: 0 }), NotationError);
});
