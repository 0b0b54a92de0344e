/** Aggregates several failures into one message, as upstream does: each text once, in brackets if there are several. */
import { joinedErrors } from "../../../base/joined-errors.ts";

export function messagesAsOne(failures: readonly unknown[]): string {
  return joinedErrors(failures.map((failure) => (failure instanceof Error ? failure.message : String(failure))));
}
