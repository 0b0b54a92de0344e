/** Why a request to the test control API is rejected: an HTTP code, a reason for programs, a message and a remedy for people. */

export interface ProblemReason {
  readonly BadRequest: 400;
  readonly Unauthorized: 401;
  readonly Forbidden: 403;
  readonly NotFound: 404;
  readonly MethodNotAllowed: 405;
  readonly Conflict: 409;
  readonly TooLarge: 413;
  readonly TooMany: 429;
  readonly InternalError: 500;
}

export const PROBLEM_CODES: ProblemReason = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  Conflict: 409,
  TooLarge: 413,
  TooMany: 429,
  InternalError: 500,
};

export class Problem extends Error {
  readonly reason: keyof ProblemReason;
  readonly remedy: string;

  constructor(reason: keyof ProblemReason, message: string, remedy: string) {
    super(message);
    this.reason = reason;
    this.remedy = remedy;
  }

  get code(): number {
    return PROBLEM_CODES[this.reason];
  }
}

export function badRequest(message: string, remedy: string): Problem {
  return new Problem("BadRequest", message, remedy);
}

export function notFound(message: string, remedy: string): Problem {
  return new Problem("NotFound", message, remedy);
}

export function conflict(message: string, remedy: string): Problem {
  return new Problem("Conflict", message, remedy);
}

export function tooMany(message: string, remedy: string): Problem {
  return new Problem("TooMany", message, remedy);
}
