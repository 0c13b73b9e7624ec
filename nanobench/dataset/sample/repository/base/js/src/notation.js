import { NotationError } from "./errors.js";
import { UNITS, unitOf } from "./units.js";

const PART = /^(\d+)([a-z]+)$/;

/** Write a whole number of seconds, for example 5400 as "1h 30m". */
export function formatDuration(seconds) {
  if (seconds < 0) {
    throw new NotationError(`a duration cannot be negative: ${seconds}`);
  }
  const parts = [];
  let rest = seconds;
  for (const unit of UNITS) {
    const count = Math.floor(rest / unit.seconds);
    rest -= count * unit.seconds;
    if (count) parts.push(`${count}${unit.symbol}`);
  }
  return parts.join(" ") || "0s";
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
