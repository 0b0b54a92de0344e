import { deepEqual, equal } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { all } from "../src/controllers/all.ts";
import { SETTING_NAMES } from "../src/kubelet/runtime/simulated/settings.ts";
import { SchedulerStatistics } from "../src/scheduler/metrics.ts";
import { all as plugins } from "../src/scheduler/plugins/all.ts";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { readTexts, type TextFile } from "./source/read-texts.ts";

const root = packageDirectory(import.meta.dirname);

test("docs/controllers.md names every controller, with its former names, its account and whether it runs by default", () => {
  const text = readFileSync(join(root, "docs/controllers.md"), "utf8");
  const rows = [...text.matchAll(/^\| ([a-z-]+-controller)(?: \(([a-z, -]+)\))? \| ([a-z:-]+) \| (.*) \|$/gm)];
  const documented = rows.map(([, name, aliases, account, purpose]) => {
    return { name, aliases: aliases?.split(", ") ?? [], account, onlyIfNamed: purpose?.endsWith("; only if named") };
  });

  const existing = all({ rootCa: "" }).map(({ name, aliases = [], account, onlyIfNamed = false }) => {
    return { name, aliases: [...aliases], account, onlyIfNamed };
  });
  deepEqual(documented, existing);
});

test("docs/controllers.md compares upstream's list with that of k8ts: those that it marks as existing are the controllers of the cluster", () => {
  const rows = [...sectionOf("docs/controllers.md", "| Upstream's controller |").matchAll(/^\| `([a-z-]+)` \| .* \| (.*) \|$/gm)];
  const documented = rows.flatMap(([, name, here = ""]) => (here.startsWith("yes") ? [name] : []));

  deepEqual(new Set(documented), new Set(all({ rootCa: "" }).map(({ name }) => name)));
});

test("docs/testing.md has every setting of simulated containers", () => {
  const settings = [...sectionOf("docs/testing.md", "| Setting | Meaning | Default |").matchAll(/^\| `([A-Za-z]+)` \|/gm)].map(
    ([, name]) => name,
  );

  deepEqual(settings, SETTING_NAMES);
});

test("docs/scheduler.md has every plugin with its weight, in order, and every metric", () => {
  const rows = [...sectionOf("docs/scheduler.md", "| Plugin | Weight |").matchAll(/^\| ([A-Za-z]+) \| (\d*) ?\|/gm)];
  const documented = rows.map(([, name, weight = ""]) => ({ name, weight }));
  const metrics = [...sectionOf("docs/scheduler.md", "## Metrics").matchAll(/`(scheduler_[a-z_]+)`/g)].map(([, name]) => name);

  deepEqual(
    documented,
    plugins.map(({ factory, weight }) => ({ name: factory.name, weight: weight === undefined ? "" : String(weight) })),
  );
  deepEqual(metrics, metricsOfScheduler());
});

/** Names of the metrics; their values do not matter. */
function metricsOfScheduler(): readonly string[] {
  const queue = { counts: () => ({ active: 0, backoff: 0, unschedulable: 0, gated: 0 }) };
  const cache = { sizes: { nodes: 0, pods: 0, assumedPods: 0 } };
  return new SchedulerStatistics().families(queue as never, cache as never).map(({ name }) => name);
}

/** The text from a line to the next heading. */
function sectionOf(document: string, line: string): string {
  const text = readFileSync(join(root, document), "utf8");
  const start = text.indexOf(line);
  equal(start >= 0, true, `${document} has ${line}`);
  return text.slice(start, text.indexOf("\n## ", start + 1));
}

/** Every document of the project. The changelog is history: it may name what has moved since. */
const documents = readTexts(root, ...ofRoot(), "docs", "examples", "src", "tools").filter(({ path }) => path.endsWith(".md"));
const current = documents.filter(({ path }) => path !== "CHANGELOG.md");

function ofRoot(): readonly string[] {
  return readdirSync(root).filter((name) => name.endsWith(".md"));
}

/** What a pattern finds in documents and `isKnown` does not know, each with its document. */
function unknownIn(files: readonly TextFile[], pattern: RegExp, isKnown: (found: string, path: string) => boolean): readonly string[] {
  return files.flatMap(({ path, text }) =>
    Array.from(text.matchAll(pattern), ([, found = ""]) => found)
      .filter((found) => !isKnown(found, path))
      .map((found) => `${path}: ${found}`),
  );
}

test("links between documents resolve to existing files and headings", () => {
  deepEqual(unknownIn(documents, /\]\((?!https?:)([^)\s]+)\)/g, resolves), []);
  equal(documents.length > 40, true);
});

test("source files named in documents exist", () => {
  const paths = /`((?:src|test|tools|docs|bench)\/[\w./-]+)`/g;
  deepEqual(
    unknownIn(current, paths, (path) => existsSync(join(root, path))),
    [],
  );
});

test("limits and constants named in documents exist", () => {
  const sources = readTexts(root, "src").map(({ text }) => text);
  const names = new Set(sources.flatMap((text) => text.match(/\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/g) ?? []));
  deepEqual(
    unknownIn(current, /`([A-Z]+(?:_[A-Z\d]+)*_(?:MAX|MS|BYTES))`/g, (name) => names.has(name)),
    [],
  );
});

test("test patterns in documents match test files", () => {
  const tests = readTexts(root, "src", "test", "tools").filter(({ path }) => path.endsWith(".test.ts"));
  const isMatching = (pattern: string): boolean => pattern === "PATTERN" || tests.some(({ path }) => path.includes(pattern));
  deepEqual(unknownIn(current, /npm test -- ([a-z][a-z/-]*|PATTERN)/g, isMatching), []);
});

describe("the README of every top-level room names its contract, its users and where to start reading (its length: folders.ts)", () => {
  const rooms = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of rooms) {
    test(`src/${name}/README.md`, () => {
      const text = documents.find(({ path }) => path === `src/${name}/README.md`)?.text ?? "";
      for (const part of ["**Contract.**", "**May be used by**", "**Start reading**"]) equal(text.includes(part), true, `it has ${part}`);
    });
  }
});

/** True if the file exists and, for a link such as `up.md#kubectl`, has that heading. */
function resolves(link: string, document: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? join(root, document) : join(root, dirname(document), path);
  if (!existsSync(target)) return false;
  return anchor === undefined || anchorsOf(readFileSync(target, "utf8")).includes(anchor);
}

/** Anchors that GitHub derives from headings: lower case, punctuation removed, spaces replaced by dashes. */
function anchorsOf(text: string): readonly string[] {
  const headings = text.replaceAll(/^```.*?^```$/gms, "").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
