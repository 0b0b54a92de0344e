import { deepEqual, equal } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { all } from "../src/controllers/all.ts";
import { SETTING_NAMES } from "../src/kubelet/runtime/simulated/settings.ts";
import { SchedulerFigures } from "../src/scheduler/metrics.ts";
import { all as plugins } from "../src/scheduler/plugins/all.ts";
import { packageDirectory } from "../src/testing/package-directory.ts";

const root = packageDirectory(import.meta.dirname);

test("docs/controllers.md names every controller, with its former names, its account and whether it runs by default", () => {
  const text = readFileSync(join(root, "docs/controllers.md"), "utf8");
  const rows = [...text.matchAll(/^\| ([a-z-]+-controller)(?: \(([a-z, -]+)\))? \| ([a-z-]+) \| (.*) \|$/gm)];
  const documented = rows.map(([, name, aliases, account, keeps]) => {
    return { name, aliases: aliases?.split(", ") ?? [], account, onlyIfNamed: keeps?.endsWith("; only if named") };
  });

  const existing = all({ rootCa: "" }).map(({ name, aliases = [], account, onlyIfNamed = false }) => {
    return { name, aliases: [...aliases], account, onlyIfNamed };
  });
  deepEqual(documented, existing);
});

test("docs/testing.md has every setting of simulated containers", () => {
  const settings = [...sectionOf("docs/testing.md", "| Setting | Meaning | Default |").matchAll(/^\| `([A-Za-z]+)` \|/gm)].map(
    ([, name]) => name,
  );

  deepEqual(settings, SETTING_NAMES);
});

test("docs/scheduler.md has every plugin with its weight, in their order, and every figure", () => {
  const rows = [...sectionOf("docs/scheduler.md", "| Plugin | Weight |").matchAll(/^\| ([A-Za-z]+) \| (\d*) ?\|/gm)];
  const documented = rows.map(([, name, weight = ""]) => ({ name, weight }));
  const figures = [...sectionOf("docs/scheduler.md", "## Metrics").matchAll(/`(scheduler_[a-z_]+)`/g)].map(([, name]) => name);

  deepEqual(
    documented,
    plugins.map(({ factory, weight }) => ({ name: factory.name, weight: weight === undefined ? "" : String(weight) })),
  );
  deepEqual(figures, figuresOfScheduler());
});

/** The names, whatever the numbers. */
function figuresOfScheduler(): readonly string[] {
  const queue = { counts: () => ({ active: 0, backoff: 0, unschedulable: 0, gated: 0 }) };
  const cache = { sizes: { nodes: 0, pods: 0, assumedPods: 0 } };
  return new SchedulerFigures().families(queue as never, cache as never).map(({ name }) => name);
}

/** From a line on, to the next heading. */
function sectionOf(document: string, line: string): string {
  const text = readFileSync(join(root, document), "utf8");
  const start = text.indexOf(line);
  equal(start >= 0, true, `${document} has ${line}`);
  return text.slice(start, text.indexOf("\n## ", start + 1));
}

/** Every Markdown document of the project, the READMEs of rooms included. */
function documentsBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : documentsBelow(path);
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

test("links between documents resolve to existing files and headings", () => {
  const ofRoot = readdirSync(root).filter((name) => name.endsWith(".md"));
  const documents = [...ofRoot, ...["docs", "examples", "src", "tools"].flatMap(documentsBelow)];
  const dead = documents.flatMap((document) => {
    const links = readFileSync(join(root, document), "utf8").matchAll(/\]\((?!https?:)([^)\s]+)\)/g);
    return [...links].flatMap(([, link = ""]) => (resolves(document, link) ? [] : [`${document}: ${link}`]));
  });

  deepEqual(dead, []);
  equal(documents.length > 40, true);
});

test("source files named in documents exist", () => {
  const documents = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...["docs", "src"].flatMap(documentsBelow)];
  const dead = documents.flatMap((document) => {
    const paths = readFileSync(join(root, document), "utf8").matchAll(/`((?:src|test|tools|docs|bench)\/[\w./-]+)`/g);
    return [...paths].flatMap(([, path = ""]) => (existsSync(join(root, path)) ? [] : [`${document}: ${path}`]));
  });

  deepEqual(dead, []);
});

/** So that it is read: what the room does, its contract, who may use it, where to start reading. */
const ROOM_README_LINES_MAX = 40;

describe("every top-level room has a short README", () => {
  const rooms = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of rooms) {
    test(`src/${name}/README.md`, () => {
      const text = readFileSync(join(root, "src", name, "README.md"), "utf8");

      equal(text.trimEnd().split("\n").length <= ROOM_README_LINES_MAX, true, `it has at most ${ROOM_README_LINES_MAX} lines`);
      for (const part of ["**Contract.**", "**May be used by**", "**Start reading**"]) equal(text.includes(part), true, `it has ${part}`);
    });
  }
});

/** True if the file exists and, for a link such as `up.md#kubectl`, has that heading. */
function resolves(document: string, link: string): boolean {
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
