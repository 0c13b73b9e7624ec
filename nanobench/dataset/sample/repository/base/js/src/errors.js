/** The text is not a duration, or the number cannot be one. */
export class NotationError extends Error {
  constructor(message) {
    super(message);
    this.name = "NotationError";
  }
}
