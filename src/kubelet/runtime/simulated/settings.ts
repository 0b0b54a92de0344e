/**
 * The settings of a simulated container and their formats. Annotations (`ready-after`), the script annotation and the options of a cluster
 * (`readyAfter`) have the same names, and all are parsed by the one table below, which is also their list. Not here: which settings apply
 * to which container (pod-script.ts), and the defaults (script.ts).
 */
import { parseYaml } from "../../../api/machinery/codec/yaml/yaml.ts";
import { YamlError } from "../../../api/machinery/codec/yaml/scalar.ts";
import { DurationError, durationToMs, parseDuration } from "../../../api/machinery/duration.ts";
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import { parseQuantity, QuantityError, scaledValue } from "../../../api/machinery/quantity.ts";
import type { UsageStep, UsageSteps } from "./usage.ts";

/** A setting as written by the user. Durations are Go's: "1.5s", "2m", "0". */
export interface WrittenSettings {
  /** Duration of its start. Default "0". */
  readonly startAfter?: string;
  /** Duration of its startup from then on, as a startup probe would see it. Default "0". */
  readonly startedAfter?: string;
  /** Time from its start until it is ready. Default "0". */
  readonly readyAfter?: string;
  /** Intervals in which it is not ready, from its start: "10s-20s,1m-" (the last one without end). Default: none. */
  readonly unready?: string;
  /** Time until it exits by itself. Default: it runs forever; if an exit is configured, and for init containers, "0". */
  readonly runFor?: string;
  /** Exit code. Default 0; 137 if `exitReason` is OOMKilled. */
  readonly exitCode?: number | string;
  /** Default: Completed with exit code 0, else Error. */
  readonly exitReason?: string;
  /** Its termination message. */
  readonly exitMessage?: string;
  /** Number of failed attempts before the other settings apply. Default 0. */
  readonly failTimes?: number | string;
  /** Duration of each failed attempt. Default "0". */
  readonly failAfter?: string;
  /** Exit code of each failed attempt. Default 1. */
  readonly failExitCode?: number | string;
  /** Time between SIGTERM and its exit; if that is longer than the grace period it is killed (137). Default "0". */
  readonly stopTakes?: string;
  /** Exit code after SIGTERM. Default 143. */
  readonly stopExitCode?: number | string;
  /** Duration of its image pull, or "fail", or "fail: <reason>". Default "0". */
  readonly imagePull?: string;
  /** Its log: lines of text. Default: empty. */
  readonly logs?: string;
  /** Interval between lines. Default "0": all at its start. */
  readonly logEvery?: string;
  /** Whether the log repeats. Default false. */
  readonly logRepeat?: boolean | string;
  /** CPU usage in cores, constant ("250m") or from times since its start on ("100m,30s:1,2m:50m"). Default "1m". */
  readonly cpu?: number | string;
  /** Memory usage in bytes, in the same form: "64Mi", "64Mi,1m:1Gi". Default "10Mi". */
  readonly memory?: number | string;
  /** By command, its words separated by one space, or "*" as the default: the output, or more. YAML in an annotation. */
  readonly exec?: string | Readonly<Record<string, string | WrittenExec>>;
}

export interface WrittenExec {
  readonly stdout?: string;
  readonly stderr?: string;
  /** Default 0. */
  readonly exitCode?: number;
  /** Default "0". */
  readonly takes?: string;
  /** Copies its input to its output until the input ends, before anything else. Default false. */
  readonly echo?: boolean;
}

/** The same in plain numbers. Missing ones were not set. */
export interface Settings {
  readonly startAfterMs?: number;
  readonly startedAfterMs?: number;
  readonly readyAfterMs?: number;
  readonly unready?: readonly Span[];
  readonly runForMs?: number;
  readonly exitCode?: number;
  readonly exitReason?: string | undefined;
  readonly exitMessage?: string | undefined;
  readonly failTimes?: number;
  readonly failAfterMs?: number;
  readonly failExitCode?: number;
  readonly stopTakesMs?: number;
  readonly stopExitCode?: number;
  readonly imagePull?: ImagePull;
  readonly logs?: readonly string[];
  readonly logEveryMs?: number;
  readonly logRepeat?: boolean;
  readonly cpuNanocores?: UsageSteps;
  readonly memoryBytes?: UsageSteps;
  readonly exec?: ReadonlyMap<string, ExecScript>;
}

/** Exclusive end, which may be Infinity. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export type ImagePull = { readonly is: "takes"; readonly durationMs: number } | { readonly is: "fails"; readonly message: string };

export interface ExecScript {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly takesMs: number;
  readonly echo: boolean;
}

/** An invalid value of a setting; the message has the expected format: "a duration such as 1.5s". */
export class SettingError extends Error {
  override readonly name = "SettingError";
}

const EXIT_CODE_MAX = 255;

/** Nanocores are the unit of CPU statistics. */
const NANO = -9;

const READERS: ReadonlyMap<string, (value: Json) => Settings> = new Map<keyof WrittenSettings, (value: Json) => Settings>([
  ["startAfter", (value) => ({ startAfterMs: durationMs(value) })],
  ["startedAfter", (value) => ({ startedAfterMs: durationMs(value) })],
  ["readyAfter", (value) => ({ readyAfterMs: durationMs(value) })],
  ["unready", (value) => ({ unready: spans(value) })],
  ["runFor", (value) => ({ runForMs: durationMs(value) })],
  ["exitCode", (value) => ({ exitCode: whole(value, EXIT_CODE_MAX) })],
  ["exitReason", (value) => ({ exitReason: word(value) })],
  ["exitMessage", (value) => ({ exitMessage: text(value) })],
  ["failTimes", (value) => ({ failTimes: whole(value, Number.MAX_SAFE_INTEGER) })],
  ["failAfter", (value) => ({ failAfterMs: durationMs(value) })],
  ["failExitCode", (value) => ({ failExitCode: failingCode(value) })],
  ["stopTakes", (value) => ({ stopTakesMs: durationMs(value) })],
  ["stopExitCode", (value) => ({ stopExitCode: whole(value, EXIT_CODE_MAX) })],
  ["imagePull", (value) => ({ imagePull: imagePull(value) })],
  ["logs", (value) => ({ logs: lines(value) })],
  ["logEvery", (value) => ({ logEveryMs: durationMs(value) })],
  ["logRepeat", (value) => ({ logRepeat: truth(value) })],
  ["cpu", (value) => ({ cpuNanocores: usageSteps(value, NANO) })],
  ["memory", (value) => ({ memoryBytes: usageSteps(value, 0) })],
  ["exec", (value) => ({ exec: commands(value) })],
]);

export const SETTING_NAMES: readonly string[] = [...READERS.keys()];

/** Throws a SettingError; undefined if the setting does not exist. */
export function readSetting(name: string, value: Json): Settings | undefined {
  return READERS.get(name)?.(value);
}

/** Contradiction between settings that are each valid; undefined if none exists. */
export function contradictionIn({ logs = [], logEveryMs = 0, logRepeat = false }: Settings): string | undefined {
  // An infinite number of lines at one instant.
  return logRepeat && logs.length > 0 && logEveryMs === 0 ? "logs that repeat need a logEvery longer than 0" : undefined;
}

function durationMs(value: Json): number {
  try {
    const nanoseconds = typeof value === "string" || value === 0 ? parseDuration(String(value)) : -1n;
    if (nanoseconds >= 0n) return durationToMs(nanoseconds);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
  }
  throw new SettingError("a duration such as 1.5s, 0 or longer");
}

function whole(value: Json, max: number): number {
  const number = typeof value === "string" && /^[0-9]+$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= max) return number;
  throw new SettingError(max === Number.MAX_SAFE_INTEGER ? "a whole number, 0 or more" : `a whole number from 0 to ${max}`);
}

function failingCode(value: Json): number {
  if (whole(value, EXIT_CODE_MAX) === 0) throw new SettingError(`a whole number from 1 to ${EXIT_CODE_MAX}`);
  return whole(value, EXIT_CODE_MAX);
}

function text(value: Json): string {
  if (typeof value === "string") return value;
  throw new SettingError("text");
}

/** Reasons are machine-readable. */
function word(value: Json): string {
  if (typeof value === "string" && /^[A-Za-z][A-Za-z0-9]*$/.test(value)) return value;
  throw new SettingError("one word in CamelCase such as OOMKilled");
}

function truth(value: Json): boolean {
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw new SettingError("true or false");
}

/** A line break at the end terminates the last line and starts no other. */
function lines(value: Json): readonly string[] {
  const whole = text(value).replace(/\r?\n$/, "");
  return whole === "" ? [] : whole.split(/\r?\n/);
}

function spans(value: Json): readonly Span[] {
  return text(value).split(",").map(span);
}

function span(written: string): Span {
  const [from, to, ...more] = written.trim().split("-");
  try {
    const fromMs = durationMs(from ?? "");
    const toMs = to === "" ? Infinity : durationMs(to ?? "");
    if (more.length === 0 && fromMs < toMs) return { fromMs, toMs };
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
  }
  throw new SettingError("spans of time such as 10s-20s,1m- where each ends later than it begins");
}

/** Amounts in units of ten to the power of `exponent`. */
function usageSteps(value: Json, exponent: number): UsageSteps {
  const [first = "", ...later] = (typeof value === "number" ? String(value) : text(value)).split(",");
  try {
    const steps: UsageSteps = [{ fromMs: 0, amount: amountOf(first, exponent) }, ...later.map((step) => usageStep(step, exponent))];
    if (steps.every(({ fromMs }, index) => index === 0 || fromMs > (steps[index - 1]?.fromMs ?? 0))) return steps;
  } catch (error) {
    if (!(error instanceof SettingError) && !(error instanceof QuantityError)) throw error;
  }
  throw new SettingError("a quantity such as 250m, or several such as 100m,30s:1,2m:50m, each from a later time on");
}

function usageStep(written: string, exponent: number): UsageStep {
  const [from = "", amount = "", ...more] = written.split(":");
  if (more.length > 0) throw new SettingError("a step");
  return { fromMs: durationMs(from.trim()), amount: amountOf(amount, exponent) };
}

function amountOf(written: string, exponent: number): number {
  const amount = Number(scaledValue(parseQuantity(written.trim()), exponent));
  if (amount < 0) throw new SettingError("an amount of 0 or more");
  return amount;
}

function imagePull(value: Json): ImagePull {
  const failure = typeof value === "string" ? /^fail(?:: *(.*))?$/s.exec(value) : null;
  if (failure !== null) return { is: "fails", message: failure[1] || "not found" };
  try {
    return { is: "takes", durationMs: durationMs(value) };
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    throw new SettingError("a duration such as 1.5s, or fail, or fail: followed by the reason");
  }
}

function commands(value: Json): ReadonlyMap<string, ExecScript> {
  const answers = objectOf(typeof value === "string" ? readYaml(value) : value);
  return new Map(Object.entries(answers).map(([command, answer]) => [command, execScript(command, answer ?? null)]));
}

const EXEC_DEFAULTS: JsonObject = { stdout: "", stderr: "", exitCode: 0, takes: "0", echo: false } satisfies WrittenExec;

function execScript(command: string, written: Json): ExecScript {
  const answer = { ...EXEC_DEFAULTS, ...(typeof written === "string" ? { stdout: written } : objectOf(written)) };
  const names = Object.keys(EXEC_DEFAULTS);
  if (Object.keys(answer).length > names.length) throw new SettingError(`answers by command, each with no more than ${names.join(", ")}`);
  const part = <T>(name: keyof WrittenExec, read: (value: Json) => T): T => {
    try {
      return read(answer[name] ?? null);
    } catch (error) {
      if (!(error instanceof SettingError)) throw error;
      throw new SettingError(`answers by command, where ${name} of "${command}" is ${error.message}`);
    }
  };
  return {
    stdout: part("stdout", text),
    stderr: part("stderr", text),
    exitCode: part("exitCode", (value) => whole(value, EXIT_CODE_MAX)),
    takesMs: part("takes", durationMs),
    echo: part("echo", truth),
  };
}

function objectOf(value: Json): JsonObject {
  if (isObject(value)) return value;
  throw new SettingError(`answers by command such as {"hostname": "web-0"}`);
}

/** Throws a SettingError. */
export function readYaml(written: string): Json {
  try {
    return parseYaml(new TextEncoder().encode(written)).value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new SettingError(`YAML or JSON (${error.message})`);
  }
}
