/** Several failures told as one, as upstream does: each text once, in brackets if there are several. */
export function messagesAsOne(failures: readonly unknown[]): string {
  const messages = [...new Set(failures.map((failure) => (failure instanceof Error ? failure.message : String(failure))))];
  return messages.length === 1 ? (messages[0] ?? "") : `[${messages.join(", ")}]`;
}
