/**
 * The contract of a `k8ts` command: `parse` turns argv into typed options, `run` executes them. `parse` reports all problems at once and
 * has no side effects; `run` starts only after it succeeded. Commands depend neither on process.argv nor on the process: they get an `Io`,
 * return or throw, and only the launcher exits.
 *
 * To add a command: its file in commands/, the file's test, and one line in commands/all.ts. Commands do not import each other; shared
 * flags are in cli/shared and config.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { ArgumentSet, ArgumentValues, FlagSet, FlagValues, Parsed } from "./flags.ts";
import { parseArguments } from "./flags.ts";

/** Environment variables at program start. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that a command may use of its environment, besides `host`. */
export interface Io {
  /** Writes one line of the result to standard output, without a trailing line break. */
  out(line: string): void;
  /** Writes one line to standard error: messages for a person that must not end up in a pipe. */
  note(line: string): void;
  readonly environment: Environment;
  readonly clock: Clock;
  /** Logs to standard error: warnings and errors, with --verbose everything. */
  readonly log: Logger;
  /** Aborted by the first SIGINT or SIGTERM, or by `k8ts down`: stop gracefully and return. A second signal terminates the process. */
  readonly signal: AbortSignal;
  /**
   * To be called by a command that runs until a signal, once it has started, with the names of the parts of the program that it uses: the
   * launcher keeps their compiled code for the next start. Absent: it does not.
   */
  readonly started?: (parts: readonly string[]) => void;
}

export interface Command<Options = unknown> {
  /** One or several sentences; the beginning of the help text. */
  readonly description: string;
  readonly flags: FlagSet;
  /** Positional arguments, in order. */
  readonly arguments: ArgumentSet;
  readonly examples: readonly string[];
  /** Parses argv (without the command's own name) to options, or returns all problems. Reads nothing else. */
  parse(argv: readonly string[], environment: Environment): Parsed<Options>;
  /**
   * Problems of the files that these arguments refer to. Called before `run`, and also if `parse` has rejected something, so that
   * everything is reported at once. Read-only. Absent: no flag refers to a file that must exist.
   */
  fileProblems?(argv: readonly string[], environment: Environment): Promise<readonly string[]>;
  /** Executes the command. Throws an error whose message names the object and the remedy; never exits the process. */
  run(options: Options, io: Io): Promise<void>;
}

/** An entry of commands/all.ts. The command's module is loaded only when the command or its help is requested. */
export interface CommandEntry {
  /** One or several words: "up", "store status". All words but the last group commands in the help. */
  readonly name: string;
  /** One line of the overview: starts with a verb, no full stop. */
  readonly summary: string;
  /** Arguments after its name belong to another program: not even --help is parsed, unless it is the first, and signals are forwarded. */
  readonly passesThrough?: true;
  load(): Promise<Command>;
}

export interface CommandDefinition<Options, Flags extends FlagSet, Arguments extends ArgumentSet> {
  readonly description: string;
  readonly flags: Flags;
  readonly arguments: Arguments;
  readonly examples: readonly string[];
  /**
   * Combines individually valid values into options; invalid combinations are reported here, with the flags as they are typed. Also called
   * if some flags were rejected (those have their defaults), so that all problems are reported at once; then messages that name a rejected
   * flag are dropped, because they may result from its default. `given` has the names of the flags set on the command line, for commands in
   * which a file can set the same options.
   */
  options(values: FlagValues<Flags> & ArgumentValues<Arguments>, environment: Environment, given: ReadonlySet<string>): Parsed<Options>;
  /** Like `checkFiles` of a command, with the input of `options`; messages that name a rejected flag are dropped here, too. */
  fileProblems?(
    values: FlagValues<Flags> & ArgumentValues<Arguments>,
    environment: Environment,
    given: ReadonlySet<string>,
  ): Promise<readonly string[]>;
  run(options: Options, io: Io): Promise<void>;
}

/** Defines a command whose `parse` follows from the declarations of its flags and arguments. */
export function defineCommand<Options, const Flags extends FlagSet, const Arguments extends ArgumentSet>(
  definition: CommandDefinition<Options, Flags, Arguments>,
): Command<Options> {
  const { fileProblems } = definition;
  return {
    description: definition.description,
    flags: definition.flags,
    arguments: definition.arguments,
    examples: definition.examples,
    parse(argv, environment) {
      const parsed = parseArguments({ flags: definition.flags, arguments: definition.arguments }, argv);
      const options = definition.options(parsed.values, environment, parsed.given);
      if (parsed.problems.length === 0) return options;
      const further = options.ok ? [] : options.problems.filter((problem) => !mentions(problem, parsed.refused));
      return { ok: false, problems: [...parsed.problems, ...further] };
    },
    ...(fileProblems === undefined
      ? {}
      : {
          async fileProblems(argv, environment) {
            const { values, given, refused } = parseArguments({ flags: definition.flags, arguments: definition.arguments }, argv);
            return (await fileProblems(values, environment, given)).filter((problem) => !mentions(problem, refused));
          },
        }),
    run: definition.run,
  };
}

/** True if a message names a rejected flag, and so may result from its default. */
export function mentions(problem: string, refused: readonly string[]): boolean {
  const words = problem.split(/[^\w-]+/);
  return refused.some((name) => words.includes(name));
}
