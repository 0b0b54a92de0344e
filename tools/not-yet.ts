/**
 * Violations of a new check that are not repaired yet. An entry excuses the violations that start with it, or, ending in "/*", those
 * of the files directly in a folder. One that excuses nothing is a violation itself, so that the list can only become shorter.
 */

export function unexpected(violations: readonly string[], notYet: readonly string[]): string[] {
  const isStale = (entry: string): boolean => !violations.some((violation) => isExcused(violation, entry));
  return [
    ...violations.filter((violation) => !notYet.some((entry) => isExcused(violation, entry))),
    ...notYet.filter(isStale).map((entry) => `NOT_YET has "${entry}", which has no violation any more; remove the line`),
  ];
}

function isExcused(violation: string, entry: string): boolean {
  if (!entry.endsWith("/*")) return violation.startsWith(entry);
  const folder = entry.slice(0, -1);
  return violation.startsWith(folder) && !/^[^:]*\//.test(violation.slice(folder.length));
}
