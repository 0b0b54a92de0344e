/** Generates the lessons of docs/learn and their pictures as modules of the page with a cluster inside, so that it needs no request for them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Generator } from "./generator.ts";

const LEARN = "docs/learn";
const LANGUAGES = ["en", "ko"];

export const lessons: Generator = {
  async generate(root) {
    const filesOf = (folder: string, ending: string) =>
      readdirSync(join(root, LEARN, folder))
        .filter((name) => name.endsWith(ending))
        .sort()
        .map((name) => ({ name, text: readFileSync(join(root, LEARN, folder, name), "utf8") }));
    const texts = LANGUAGES.map((language) => ({
      path: `src/browser/web/generated/lessons-${language}.ts`,
      text: moduleText(
        "documents: readonly string[]",
        filesOf(language, ".md").map(({ text }) => text),
      ),
    }));
    const pictures = Object.fromEntries(
      filesOf("pictures", ".svg").map(({ name, text }) => [name, `data:image/svg+xml;base64,${Buffer.from(text).toString("base64")}`]),
    );
    const picturesText = moduleText("pictures: Readonly<Record<string, string>>", pictures);
    return [...texts, { path: "src/browser/web/generated/lesson-pictures.ts", text: picturesText }];
  },
};

function moduleText(declaration: string, value: unknown): string {
  return `/** Generated from ${LEARN} by tools/generate/lessons.ts. */\nexport const ${declaration} = ${JSON.stringify(value, undefined, 2)};\n`;
}
