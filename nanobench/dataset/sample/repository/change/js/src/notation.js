import { NotationError } from "./errors.js";
import { UNITS, largestUnit, unitOf } from "./units.js";

const PART = /^(\d+)([a-z]+)$/;

/**
 * Write a whole number of seconds, for example 5400 as "1h 30m".
 *
 * With `maxParts`, only so many parts are written, the largest ones.
 */
export function formatDuration(seconds, { maxParts = Infinity } = {}) {
  if (seconds < 0) {
    throw new NotationError(`a duration cannot be negative: ${seconds}`);
  }
  if (maxParts < 1) {
    throw new NotationError(`at least one part is needed, not ${maxParts}`);
  }
  const parts = [];
  let rest = seconds;
  for (const unit of UNITS.slice(UNITS.indexOf(largestUnit(seconds)))) {
    const count = Math.floor(rest / unit.seconds);
    rest -= count * unit.seconds;
    if (count) parts.push(`${count}${unit.symbol}`);
  }
  return parts.slice(0, maxParts).join(" ") || "0s";
}

/** Read "1h 30m" as a number of seconds. */
export function parseDuration(text) {
  const words = text.split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    throw new NotationError("an empty text is not a duration");
  }
  let total = 0;
  for (const word of words) {
    const match = PART.exec(word);
    const unit = match && unitOf(match[2]);
    if (!unit) throw new NotationError(`not a part of a duration: "${word}"`);
    total += Number(match[1]) * unit.seconds;
  }
  return total;
}
