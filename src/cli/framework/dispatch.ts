/**
 * Maps the command line to an exit code: finds the command, loads it, parses its arguments and runs it. All problems of the command line
 * are reported before anything is started. Independent of the process, which launcher.ts supplies.
 */
import type { Command, CommandEntry, Environment, Io } from "./command.ts";
import { explainOutOfFiles, isOutOfFiles } from "../../host/processes/open-file-limit.ts";
import { commandHelp, groupOverview, overview } from "./help.ts";
import { nearest } from "./suggestion.ts";
import { ProgramEnded } from "./program-exited.ts";
import { UnusableFiles } from "./unusable-files.ts";

/** 0: success. 1: failure. 2: invalid command line, nothing was started. Others are exit codes of a program that was run. */
export type ExitCode = number;

/** Supplied by the launcher. */
export interface Terminal {
  out(line: string): void;
  note(line: string): void;
  readonly environment: Environment;
  readonly version: string;
  /**
   * Called once, right before a command runs: from then on signals abort it instead of terminating the process, unless it handles them
   * itself.
   */
  openIo(options: { readonly verbose: boolean; readonly leavesSignals: boolean }): Promise<Io>;
}

export async function dispatch(argv: readonly string[], entries: readonly CommandEntry[], terminal: Terminal): Promise<ExitCode> {
  const flags = takeCommonFlags(argv, entries, terminal.environment);
  try {
    return await dispatchWords(flags, entries, terminal);
  } catch (error) {
    // Loading a command opens hundreds of files at once.
    if (!isOutOfFiles(error)) throw error;
    terminal.note(describeError(error, flags.verbose));
    return 1;
  }
}

async function dispatchWords(flags: CommonFlags, entries: readonly CommandEntry[], terminal: Terminal): Promise<ExitCode> {
  const { words, help, verbose } = flags;
  const [first, ...rest] = words;
  if (first === "--version" || first === "version") return print(terminal, [`k8ts ${terminal.version}`]);
  if (first === undefined) return print(terminal, overview(entries));
  if (first === "help") return explain(rest, entries, terminal);
  if (help) return explain(words, entries, terminal);

  const found = find(words, entries);
  if (found === undefined) return refuseUnknown(words, entries, terminal);
  const command = await found.entry.load();
  const own = words.slice(found.wordCount);
  const parsed = command.parse(own, terminal.environment);
  const ofFiles = (await command.fileProblems?.(own, terminal.environment)) ?? [];
  const hint = `k8ts ${found.entry.name} --help describes the flags`;
  if (!parsed.ok || ofFiles.length > 0) return refuse(terminal, [...(parsed.ok ? [] : parsed.problems), ...ofFiles], hint);
  const leavesSignals = found.entry.passesThrough === true;
  return run({ command, options: parsed.options, hint }, terminal, { verbose, leavesSignals });
}

interface Running {
  readonly command: Command;
  readonly options: unknown;
  /** Hint for an invalid command line. */
  readonly hint: string;
}

async function run({ command, options, hint }: Running, terminal: Terminal, io: Parameters<Terminal["openIo"]>[0]): Promise<ExitCode> {
  try {
    await command.run(options, await terminal.openIo(io));
    return 0;
  } catch (error) {
    if (error instanceof ProgramEnded) return error.code;
    if (error instanceof UnusableFiles) return refuse(terminal, error.problems, hint);
    terminal.note(describeError(error, io.verbose));
    return 1;
  }
}

/** The message with its causes; stack traces only with --verbose. */
export function describeError(error: unknown, verbose: boolean): string {
  return [
    `Error: ${describe(error, verbose)}`,
    ...causesOf(error, verbose).map((cause) => `  caused by: ${describe(cause, verbose)}`),
  ].join("\n");
}

function describe(error: unknown, verbose: boolean): string {
  if (!(error instanceof Error)) return String(error);
  if (isOutOfFiles(error) && !verbose) return explainOutOfFiles(error).message;
  return verbose && error.stack !== undefined ? error.stack.replace(/^Error: /, "") : error.message;
}

/** From the outermost to the innermost. A cause that the message already quotes is skipped unless stacks are printed. */
function causesOf(error: unknown, verbose: boolean): unknown[] {
  if (error instanceof AggregateError) return error.errors.flatMap((each: unknown) => [each, ...causesOf(each, verbose)]);
  if (!(error instanceof Error) || error.cause === undefined) return [];
  const reported = !verbose && error.message.includes(describe(error.cause, false));
  return [...(reported ? [] : [error.cause]), ...causesOf(error.cause, verbose)];
}

interface CommonFlags {
  readonly words: readonly string[];
  readonly help: boolean;
  readonly verbose: boolean;
}

const HELP_FLAGS = ["--help", "-h"];
const COMMON_FLAGS = [...HELP_FLAGS, "--verbose"];

/** Extracts the global flags, up to "--" or the arguments of another program. */
function takeCommonFlags(argv: readonly string[], entries: readonly CommandEntry[], environment: Environment): CommonFlags {
  const end = endOfOwnWords(argv, entries);
  const before = argv.slice(0, end);
  return {
    words: [...before.filter((word) => !COMMON_FLAGS.includes(word)), ...argv.slice(end)],
    help: before.some((word) => HELP_FLAGS.includes(word)),
    verbose: before.includes("--verbose") || environment["K8TS_DEBUG"] === "1",
  };
}

function endOfOwnWords(argv: readonly string[], entries: readonly CommandEntry[]): number {
  const first = argv.findIndex((word) => !COMMON_FLAGS.includes(word));
  if (entries.some(({ name, passesThrough }) => passesThrough === true && name === argv[first]))
    return HELP_FLAGS.includes(argv[first + 1] ?? "") ? first + 2 : first + 1;
  return argv.includes("--") ? argv.indexOf("--") : argv.length;
}

/** The command with the longest name that is a prefix of the arguments. */
function find(
  words: readonly string[],
  entries: readonly CommandEntry[],
): { readonly entry: CommandEntry; readonly wordCount: number } | undefined {
  return entries
    .map((entry) => ({ entry, wordCount: entry.name.split(" ").length }))
    .filter(({ entry, wordCount }) => words.slice(0, wordCount).join(" ") === entry.name)
    .sort((a, b) => b.wordCount - a.wordCount)[0];
}

function inGroup(group: string | undefined, entries: readonly CommandEntry[]): CommandEntry[] {
  return group === undefined ? [] : entries.filter(({ name }) => name.startsWith(`${group} `));
}

async function explain(words: readonly string[], entries: readonly CommandEntry[], terminal: Terminal): Promise<ExitCode> {
  const named = words.filter((word) => !word.startsWith("-"));
  if (named[0] === undefined) return print(terminal, overview(entries));
  const found = find(named, entries);
  if (found !== undefined) return print(terminal, commandHelp(found.entry.name, await found.entry.load()));
  const group = inGroup(named[0], entries);
  if (group.length > 0 && named.length === 1) return print(terminal, groupOverview(named[0], group));
  return refuseUnknown(named, entries, terminal);
}

function refuseUnknown(words: readonly string[], entries: readonly CommandEntry[], terminal: Terminal): ExitCode {
  const [first = ""] = words;
  if (first.startsWith("-")) return refuse(terminal, [`Unknown flag ${JSON.stringify(first)}`], "k8ts --help lists the commands");
  const group = inGroup(first, entries);
  if (group.length > 0 && words.length === 1) {
    for (const line of groupOverview(first, group)) terminal.note(line);
    return 2;
  }
  const typed = words.slice(0, group.length > 0 ? 2 : 1).join(" ");
  const meant = nearest(typed, [...entries.map(({ name }) => name), "help", "version"]);
  const problem = `Unknown command ${JSON.stringify(typed)}${meant === undefined ? "" : `; did you mean "${meant}"?`}`;
  return refuse(terminal, [problem], `k8ts ${group.length > 0 ? `${first} ` : ""}--help lists the commands`);
}

function refuse(terminal: Terminal, problems: readonly string[], hint: string): ExitCode {
  for (const line of [...problems, hint]) terminal.note(line);
  return 2;
}

function print(terminal: Terminal, lines: readonly string[]): ExitCode {
  for (const line of lines) terminal.out(line);
  return 0;
}
