/**
 * The contract of a command of `k8ts`: `parse` turns argv into typed options, `run` does the work with them.
 * `parse` complains about everything that is wrong at once and touches nothing; `run` starts only after it has agreed.
 * Commands know neither argv's source nor the process: they get an `Io`, return or throw, and only the launcher exits.
 *
 * One more command is its file in commands/, the file's test, and one line in commands/all.ts. Commands do not import each other; what
 * several need stands beside this file (flags.ts, store-flags.ts).
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { ArgumentSet, ArgumentValues, FlagSet, FlagValues, Parsed } from "./flags.ts";
import { parseArguments } from "./flags.ts";

/** The environment variables, as they were when the program started. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** All that a command may use of the world, besides `host`. */
export interface Io {
  /** Writes one line of the result to standard output. `line` has no line break at its end. */
  out(line: string): void;
  /** Writes one line to standard error: what a person should know and a pipe should not carry. */
  note(line: string): void;
  readonly environment: Environment;
  readonly clock: Clock;
  /** Goes to standard error: warnings and errors, with --verbose everything. */
  readonly log: Logger;
  /** Aborted by the first SIGINT or SIGTERM, or by `k8ts down`: stop cleanly and return. A second signal ends the process without asking. */
  readonly signal: AbortSignal;
}

export interface Command<Options = unknown> {
  /** What it does, in one or several sentences; the beginning of its help text. */
  readonly description: string;
  readonly flags: FlagSet;
  /** What comes without a flag, in order. */
  readonly arguments: ArgumentSet;
  readonly examples: readonly string[];
  /** From argv (without the command's own name) to options, or all that is wrong with them. Reads nothing else. */
  parse(argv: readonly string[], environment: Environment): Parsed<Options>;
  /**
   * What is wrong with the files that these words name, in sentences. Asked before `run`, and also if `parse` has refused something, so
   * that all is told at once. Reads, and changes nothing. Absent: no flag names a file that must be there.
   */
  fileProblems?(argv: readonly string[], environment: Environment): Promise<readonly string[]>;
  /** Does the work. Throws an error whose message names the thing and what to do; never exits the process. */
  run(options: Options, io: Io): Promise<void>;
}

/** A line of commands/all.ts. The command's file is loaded only when the command is called or its help asked for. */
export interface CommandEntry {
  /** One or several words: "up", "store status". Words before the last one group commands in the help. */
  readonly name: string;
  /** One line of the overview: a verb first, no full stop. */
  readonly summary: string;
  /** Words after its name are another program's: not even --help is taken from them, unless it is the first, and signals are that program's. */
  readonly passesThrough?: true;
  load(): Promise<Command>;
}

export interface CommandDefinition<Options, Flags extends FlagSet, Arguments extends ArgumentSet> {
  readonly description: string;
  readonly flags: Flags;
  readonly arguments: Arguments;
  readonly examples: readonly string[];
  /**
   * From values that are fine one by one to options; what is wrong only in combination is refused here, in sentences that name the
   * flags as they are typed. Also called if some flags were refused (they then have their defaults), so that all problems are told at
   * once; of what it says then, sentences that name a refused flag are dropped, since they may follow from the guess.
   * `given` has the names of the flags that were typed, for commands in which a file, too, can say what a flag says.
   */
  options(values: FlagValues<Flags> & ArgumentValues<Arguments>, environment: Environment, given: ReadonlySet<string>): Parsed<Options>;
  /** As of a command, from what `options` gets; of what it says, too, sentences that name a refused flag are dropped. */
  fileProblems?(
    values: FlagValues<Flags> & ArgumentValues<Arguments>,
    environment: Environment,
    given: ReadonlySet<string>,
  ): Promise<readonly string[]>;
  run(options: Options, io: Io): Promise<void>;
}

/** A command whose `parse` follows from the declaration of its flags and arguments. */
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

/** Whether a sentence is about something that was refused, and so may follow from the guess in its place. */
export function mentions(problem: string, refused: readonly string[]): boolean {
  const words = problem.split(/[^\w-]+/);
  return refused.some((name) => words.includes(name));
}
