export { NotationError } from "./errors.js";
export { formatDuration, parseDuration } from "./notation.js";
