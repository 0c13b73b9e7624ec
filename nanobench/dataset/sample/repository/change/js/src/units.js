/** The units of the notation, from the largest to the smallest. */
export const UNITS = [
  { symbol: "w", seconds: 604800 },
  { symbol: "d", seconds: 86400 },
  { symbol: "h", seconds: 3600 },
  { symbol: "m", seconds: 60 },
  { symbol: "s", seconds: 1 },
];

/** The unit with this symbol, or undefined. */
export function unitOf(symbol) {
  return UNITS.find((unit) => unit.symbol === symbol);
}

/** The largest unit of which the duration holds at least one, else the smallest unit. */
export function largestUnit(seconds) {
  return UNITS.find((unit) => seconds >= unit.seconds) ?? UNITS.at(-1);
}
