/**
 * A lesson from its Markdown: the text before the first second-level heading is the introduction, each such heading is a step. Code blocks
 * of a step are what the learner does (`sh`), files that it uses (`yaml file=NAME`), and questions to the cluster whether it is done
 * (`check`). Pure.
 */
import { parseCheck, type Check } from "./check.ts";
import { parseMarkdown, type Block } from "./markdown.ts";

export interface Lesson {
  readonly title: string;
  readonly introduction: readonly Block[];
  readonly steps: readonly Step[];
  /** All files of its steps, by name. */
  readonly files: ReadonlyMap<string, string>;
}

export interface Step {
  readonly title: string;
  /** Without its heading and its checks. */
  readonly blocks: readonly Block[];
  readonly commands: readonly LessonCommand[];
  readonly checks: readonly Check[];
}

export interface LessonCommand {
  readonly text: string;
  /** The API server is meant to refuse it: `sh fails`. */
  readonly fails: boolean;
}

/** Headings after which no step follows: what to read next. */
const END_LEVEL = 3;

export function parseLesson(text: string): Lesson {
  const blocks = parseMarkdown(text);
  const starts = blocks.flatMap((block, index) => (block.is === "heading" && block.level === 2 ? [index] : []));
  const title = blocks.find((block) => block.is === "heading" && block.level === 1);
  const introduction = blocks.slice(0, starts[0] ?? blocks.length).filter((block) => block !== title);
  const steps = starts.map((start, index) => stepOf(blocks.slice(start, starts[index + 1] ?? blocks.length)));
  const files = new Map(
    blocks.flatMap((block) => {
      const name = block.is === "code" ? fileNameOf(block.info) : undefined;
      return name === undefined || block.is !== "code" ? [] : [[name, `${block.text}\n`] as const];
    }),
  );
  return { title: title?.is === "heading" ? title.text : "", introduction, steps, files };
}

function stepOf([heading, ...blocks]: readonly Block[]): Step {
  const title = heading?.is === "heading" && heading.level < END_LEVEL ? heading.text : "";
  const codes = blocks.filter((block) => block.is === "code");
  return {
    title,
    blocks: blocks.filter((block) => block.is !== "code" || !isCheck(block.info)),
    commands: codes.filter(({ info }) => isCommand(info)).map(({ info, text }) => ({ text, fails: info.split(" ").includes("fails") })),
    checks: codes.filter(({ info }) => isCheck(info)).map(parseCheck),
  };
}

export function isCommand(info: string): boolean {
  return info.split(" ")[0] === "sh";
}

function isCheck(info: string): boolean {
  return info.split(" ")[0] === "check";
}

/** "web.yaml" of "yaml file=web.yaml". */
export function fileNameOf(info: string): string | undefined {
  return /(?:^| )file=(\S+)/.exec(info)?.[1];
}
