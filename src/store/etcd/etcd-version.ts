/** Supported etcd versions, and which of them have reliable progress notifications. Pure tables. */

/** Why this version is rejected, with the remedy; undefined if it is supported. */
export function refusalOf(version: string): string | undefined {
  const parsed = parse(version);
  if (parsed === undefined) return `its version, ${JSON.stringify(version)}, is not of the form 3.5.13`;
  const [major, minor, patch] = parsed;
  if (major < 3 || (major === 3 && minor < 4)) return `version ${version} is too old; upgrade to 3.4.31, 3.5.13 or newer`;
  if (major === 3 && minor === 5 && patch < 3) {
    return `version ${version} is known to corrupt data (3.5.0 to 3.5.2 are); upgrade to 3.5.13 or newer`;
  }
  return undefined;
}

/**
 * Whether progress notifications of this version never overtake the changes they cover. Older ones could notify a watch that had not
 * received all changes yet.
 */
export function hasReliableProgress(version: string): boolean {
  const parsed = parse(version);
  if (parsed === undefined) return false;
  const [major, minor, patch] = parsed;
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 31;
  if (minor === 5) return patch >= 13;
  return minor >= 6;
}

function parse(version: string): readonly [major: number, minor: number, patch: number] | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$/.exec(version);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}
