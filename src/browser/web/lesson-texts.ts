/** Loads the lessons of a language, a part of the page of its own. */
import { parseLesson, type Lesson } from "../lessons/lesson.ts";
import type { Language } from "./texts.ts";

export interface LoadedLessons {
  readonly lessons: readonly Lesson[];
  /** Data URLs by file name. */
  readonly pictures: Readonly<Record<string, string>>;
}

export async function loadLessons(language: Language): Promise<LoadedLessons> {
  const [{ documents }, { pictures }] = await Promise.all([
    language === "ko" ? import("./generated/lessons-ko.ts") : import("./generated/lessons-en.ts"),
    import("./generated/lesson-pictures.ts"),
  ]);
  return { lessons: documents.map(parseLesson), pictures };
}
