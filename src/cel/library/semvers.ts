/** Semantic versions, with upstream's error messages. */
import { UINT_MAX } from "../syntax/literals.ts";
import { spend } from "../values/meter.ts";
import { quoted, textOf } from "../values/text.ts";
import { CelError, OpaqueValue, type CelResult, type CelValue } from "../values/value.ts";
import { BOOL, INT, objectOf, STRING, type CelType } from "../types/type.ts";
import { member, overload, type Library, type LibraryFunction } from "./library.ts";

export const SEMVER: CelType = objectOf("kubernetes.Semver");

interface Version {
  readonly numbers: readonly [bigint, bigint, bigint];
  /** Numeric identifiers are bigint. */
  readonly prerelease: readonly (bigint | string)[];
  readonly text: string;
}

class SemverValue extends OpaqueValue {
  readonly type = SEMVER;
  readonly version: Version;

  constructor(version: Version) {
    super();
    this.version = version;
  }

  equals(other: OpaqueValue): boolean | CelError {
    return other instanceof SemverValue ? compareVersions(this.version, other.version) === 0 : new CelError("no such overload");
  }

  override get hasUnitEquality(): boolean {
    return true;
  }

  override toJson(): string {
    return this.version.text;
  }
}

class SemverError extends Error {
  override readonly name = "SemverError";
}

function readNumber(text: string, name: string): bigint {
  if (!/^\d+$/.test(text)) throw new SemverError(`Invalid character(s) found in ${name.toLowerCase()} number ${quoted(text)}`);
  if (text.length > 1 && text.startsWith("0")) throw new SemverError(`${name} number must not contain leading zeroes ${quoted(text)}`);
  return readUint(text);
}

/** Digits of the largest uint64; converting a text of millions of them would take seconds. */
const UINT_DIGITS_MAX = 20;

function readUint(digits: string): bigint {
  const value = digits.length > UINT_DIGITS_MAX ? undefined : BigInt(digits);
  if (value === undefined || value > UINT_MAX) throw new SemverError(`strconv.ParseUint: parsing ${quoted(digits)}: value out of range`);
  return value;
}

/** Steps of splitting a text, per character. */
const CHARACTER_STEPS = 8;
/** Steps of reading one of the identifiers that dots separate, and of comparing two. */
const IDENTIFIER_STEPS = 100;

function readPrerelease(text: string): bigint | string {
  spend(IDENTIFIER_STEPS);
  if (text === "") throw new SemverError("Prerelease is empty");
  if (/^\d+$/.test(text)) {
    if (text.length > 1 && text.startsWith("0"))
      throw new SemverError(`Numeric PreRelease version must not contain leading zeroes ${quoted(text)}`);
    return readUint(text);
  }
  if (!/^[0-9A-Za-z-]+$/.test(text)) throw new SemverError(`Invalid character(s) found in prerelease ${quoted(text)}`);
  return text;
}

/** major.minor.patch-prerelease+build. Throws SemverError. */
function parseVersion(text: string): Version {
  spend(text.length * CHARACTER_STEPS);
  if (text === "") throw new SemverError("Version string empty");
  const [major = "", minor, ...rest] = text.split(".");
  if (minor === undefined || rest.length === 0) throw new SemverError("No Major.Minor.Patch elements found");
  const majorNumber = readNumber(major, "Major");
  const minorNumber = readNumber(minor, "Minor");
  let patch = rest.join(".");
  let build: readonly string[] = [];
  let prerelease: readonly string[] = [];
  const plus = patch.indexOf("+");
  if (plus >= 0) {
    build = patch.slice(plus + 1).split(".");
    patch = patch.slice(0, plus);
  }
  const dash = patch.indexOf("-");
  if (dash >= 0) {
    prerelease = patch.slice(dash + 1).split(".");
    patch = patch.slice(0, dash);
  }
  const patchNumber = readNumber(patch, "Patch");
  const identifiers = prerelease.map(readPrerelease);
  for (const part of build) {
    spend(IDENTIFIER_STEPS);
    if (part === "") throw new SemverError("Build meta data is empty");
    if (!/^[0-9A-Za-z-]+$/.test(part)) throw new SemverError(`Invalid character(s) found in build meta data ${quoted(part)}`);
  }
  return { numbers: [majorNumber, minorNumber, patchNumber], prerelease: identifiers, text };
}

/** "v1.2" is 1.2.0, and leading zeros are removed. */
function normalized(text: string): string {
  spend(text.length * CHARACTER_STEPS);
  const [major = "", minor, ...rest] = text.replace(/^v/, "").split(".");
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(rest.length === 0 ? [] : [rest.join(".")])].map((part) =>
    part.length > 1 ? part.replace(/^0+/, "").replace(/^(?!\d)/, "0") : part,
  );
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? "")) throw new SemverError("short version cannot contain PreRelease/Build meta data");
  while (parts.length < 3) parts.push("0");
  return parts.join(".");
}

/** The value of a version in semver 2.0.0 notation. */
export function semverValue(text: string): CelResult {
  return semver(text, false);
}

function semver(text: string, normalize: boolean): CelResult {
  try {
    return new SemverValue(parseVersion(normalize ? normalized(text) : text));
  } catch (error) {
    if (error instanceof SemverError) return new CelError(error.message);
    throw error;
  }
}

function compareVersions(a: Version, b: Version): number {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return Math.sign(b.prerelease.length - a.prerelease.length);
  for (const [index, identifier] of a.prerelease.entries()) {
    spend(IDENTIFIER_STEPS);
    const other = b.prerelease[index];
    if (other === undefined) return 1;
    const order = compareIdentifiers(identifier, other);
    if (order !== 0) return order;
  }
  return a.prerelease.length < b.prerelease.length ? -1 : 0;
}

/** Numbers come before texts. */
function compareIdentifiers(a: bigint | string, b: bigint | string): number {
  if (a === b) return 0;
  if (typeof a !== typeof b) return typeof a === "bigint" ? -1 : 1;
  return a < b ? -1 : 1;
}

function version(value: CelValue | undefined): Version {
  return (value as SemverValue).version;
}

function compared(name: string, id: string, result: CelType, read: (order: number) => CelResult): LibraryFunction {
  return { name, overloads: [member(id, [SEMVER, SEMVER], result, ([a, b]) => read(compareVersions(version(a), version(b))))] };
}

function number(name: string, id: string, index: 0 | 1 | 2): LibraryFunction {
  return { name, overloads: [member(id, [SEMVER], INT, ([value]) => version(value).numbers[index])] };
}

export const semvers: Library = {
  functions: [
    {
      name: "semver",
      overloads: [
        overload("string_to_semver", [STRING], SEMVER, ([text]) => semver(textOf(text), false)),
        overload("string_bool_to_semver", [STRING, BOOL], SEMVER, ([text, normalize]) => semver(textOf(text), normalize === true)),
      ],
    },
    {
      name: "isSemver",
      overloads: [
        overload("is_semver_string", [STRING], BOOL, ([text]) => !(semver(textOf(text), false) instanceof CelError)),
        overload(
          "is_semver_string_bool",
          [STRING, BOOL],
          BOOL,
          ([text, normalize]) => !(semver(textOf(text), normalize === true) instanceof CelError),
        ),
      ],
    },
    compared("isGreaterThan", "semver_is_greater_than", BOOL, (order) => order > 0),
    compared("isLessThan", "semver_is_less_than", BOOL, (order) => order < 0),
    compared("compareTo", "semver_compare_to", INT, (order) => BigInt(order)),
    number("major", "semver_major", 0),
    number("minor", "semver_minor", 1),
    number("patch", "semver_patch", 2),
  ],
};
