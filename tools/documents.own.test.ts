import { deepEqual, equal } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { all } from "../src/controllers/all.ts";
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

test("links between the documents and to files lead somewhere", () => {
  const documents = ["docs", "docs/decisions", "examples/operator"].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((file) => (file.endsWith(".md") ? [join(folder, file)] : [])),
  );
  const dead = documents.flatMap((document) => {
    const links = [...readFileSync(join(root, document), "utf8").matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link = ""]) => link);
    return links.flatMap((link) => (existsSync(join(root, dirname(document), link)) ? [] : [`${document}: ${link}`]));
  });

  deepEqual(dead, []);
  equal(documents.length > 10, true);
});
