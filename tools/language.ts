/**
 * Refuses phrases that paraphrase an established term: a reader who searches the tree for "reconcile", "jitter" or "terminating"
 * must find it. Applies to everything written by hand: comments, strings, test titles, identifiers, file names and documents. Words are compared,
 * not characters, so `tellPlayed`, "tell-played" and a phrase broken over two lines of a comment are found alike.
 * docs/glossary.md has the reasons and more terms than a machine can judge.
 */
import type { TextFile } from "./source/read-texts.ts";

/** Phrases, each word in lower case, and what to write instead. Only those that are wrong nearly everywhere. */
export const BANNED: Readonly<Record<string, string>> = {
  ...same("the actor (the kubelet, the caller, a client)", "nobody", "somebody", "anybody", "everybody", "whoever"),
  ...same("report, emit, log, notify, return or distinguish", "tell", "tells", "told", "telling"),
  ...same("reconcile, manage or handle", "see to", "sees to", "seen to", "seeing to", "look after", "looks after", "looked after"),
  ...same("simulated", "played"),
  ...same("leader-elected, or runs only on the leader", "led", "leading only"),
  ...same("standby", "stands by", "standing by"),
  ...same("authentication, authorization or admission", "may they", "let in", "lets in", "letting in"),
  ...same("terminating, is being deleted, deleted or closed", "is going", "are going", "has gone", "have gone"),
  ...same("created if missing", "made if"),
  ...same("heartbeat", "beat", "beats", "sign of life", "signs of life"),
  ...same("jitter or random", "by chance", "so much later"),
  ...same("timeout, deadline or duration", "so much time", "for so long"),
  ...same("renamed, rotated or quarantined", "put aside", "puts aside", "putting aside"),
  ...same("restore, recover, record or cache", "recall", "recalls", "recalled", "remember", "remembers", "remembered"),
  ...same("timestamp, instant or time", "moment", "moments"),
  ...same("again, or recreated, restarted, recomputed", "anew"),
  ...same("does not exist, or undefined if none exists", "there is none", "there are none"),
  ...same("is in or is defined in", "stands in"),
  ...same("continue or resume", "go on", "goes on", "going on", "went on"),
  ...same("the purpose of the code", "small shell", "without printing", "given file", "given files", "named files", "look at files"),
};

/** Literal texts that are defined elsewhere and stay to the letter. Each must occur. */
export const DEFINED_ELSEWHERE: Readonly<Record<string, string>> = {
  "Indiana/Tell_City": "IANA time zone database",
  "nobody:x:65534:65534:nobody": "/etc/passwd of Linux distributions",
  "staff:x:50:nobody": "/etc/group of the test image",
};

/** Not written by hand, or about the phrases themselves. */
const EXEMPT = [/\/generated\//, /\.golden\.yaml$/, /^docs\/glossary\.md$/, /^tools\/language(\.own\.test)?\.ts$/];

/** One sentence per banned phrase, with its file and line. */
export function languageViolations(
  files: Iterable<TextFile>,
  definedElsewhere: readonly string[] = Object.keys(DEFINED_ELSEWHERE),
): string[] {
  const checked = [...files].filter(({ path }) => !EXEMPT.some((exempt) => exempt.test(path)));
  const unused = definedElsewhere.filter((literal) => !checked.some(({ text }) => text.includes(literal)));
  return [
    ...checked.flatMap((file) => [...inName(file), ...inText(file, definedElsewhere)]),
    ...unused.map((literal) => `tools/language.ts:1: excepts ${JSON.stringify(literal)}, which does not occur; remove the line`),
  ];
}

function inName({ path }: TextFile): string[] {
  return phrasesIn(path).map(({ phrase }) => `${path}:1: is named "${phrase}"; write ${BANNED[phrase]}`);
}

function inText({ path, text }: TextFile, definedElsewhere: readonly string[]): string[] {
  return phrasesIn(blank(text, definedElsewhere)).map(({ phrase, start }) => {
    return `${path}:${lineAt(text, start)}: says "${phrase}"; write ${BANNED[phrase]}`;
  });
}

interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

const PHRASES = Object.keys(BANNED);
const FIRST_WORDS = new Set(PHRASES.map((phrase) => phrase.split(" ")[0] ?? ""));

function phrasesIn(text: string): { readonly phrase: string; readonly start: number }[] {
  const words = wordsIn(text);
  return words.flatMap(({ word, start }, index) => {
    if (!FIRST_WORDS.has(word)) return [];
    return PHRASES.filter((phrase) => occursAt(text, words, index, phrase)).map((phrase) => ({ phrase, start }));
  });
}

/** Words of prose, of camelCase and of kebab-case. */
function wordsIn(text: string): Word[] {
  return Array.from(text.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g), ({ 0: word, index }) => {
    return { word: word.toLowerCase(), start: index, end: index + word.length };
  });
}

/** What may be between the words of a phrase: nothing (camelCase), spaces, hyphens, and the next line of a comment. Punctuation ends it. */
const BETWEEN = /^(?:[ _-]|\n *(?:\*|\/\/|#|>)? *)?$/;

function occursAt(text: string, words: readonly Word[], index: number, phrase: string): boolean {
  return phrase.split(" ").every((expected, offset) => {
    const [before, found] = [words[index + offset - 1], words[index + offset]];
    if (found?.word !== expected) return false;
    return offset === 0 || before === undefined || BETWEEN.test(text.slice(before.end, found.start));
  });
}

/** The same length, so that lines stay the same. */
function blank(text: string, literals: readonly string[]): string {
  return literals.reduce((rest, literal) => rest.replaceAll(literal, ".".repeat(literal.length)), text);
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function same(instead: string, ...phrases: readonly string[]): Record<string, string> {
  return Object.fromEntries(phrases.map((phrase) => [phrase, instead]));
}
