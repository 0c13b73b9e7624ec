/** The units of the notation, from the largest to the smallest. */
export const UNITS = [
  { symbol: "h", seconds: 3600 },
  { symbol: "m", seconds: 60 },
  { symbol: "s", seconds: 1 },
];

/** The unit with this symbol, or undefined. */
export function unitOf(symbol) {
  return UNITS.find((unit) => unit.symbol === symbol);
}
