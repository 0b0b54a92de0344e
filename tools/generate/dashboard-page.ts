/**
 * Bundles the dashboard's page (src/dashboard/web) for browsers and generates it as data of the server: every file compressed, named by a
 * hash of its content. It is part of the program like any other module, so it needs no path and no file at run time.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { Generator } from "./generator.ts";

interface File {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

export const dashboardPage: Generator = {
  async generate(root) {
    const bundled = await bundlePage(root);
    const files = [{ path: "", type: "text/html; charset=utf-8", text: pageOf(bundled) }, ...bundled];
    const rows = files.map(({ path, type, text }) => {
      const content = gzipSync(text, { level: 9 }).toString("base64");
      return `  { path: ${JSON.stringify(path)}, type: ${JSON.stringify(type)}, content: ${JSON.stringify(content)} },\n`;
    });
    const text =
      "/** Generated from src/dashboard/web by tools/generate/dashboard-page.ts. */\n" +
      `import type { PageFile } from "../page-file.ts";\n\nexport const pageFiles: readonly PageFile[] = [\n${rows.join("")}];\n`;
    return [{ path: "src/dashboard/server/generated/page.ts", text }];
  },
};

const TYPES: Readonly<Record<string, string>> = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" };

/** Browsers of the last years. */
const TARGETS = ["chrome120", "firefox121", "safari17"];

async function bundlePage(root: string): Promise<readonly File[]> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { page: "src/dashboard/web/main.ts", style: "src/dashboard/web/style.css" },
    outdir: join(root, "page"),
    write: false,
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: TARGETS,
    legalComments: "none",
    // As in the program (tools/setup/bundle-options.mjs).
    alias: { yaml: join(root, "node_modules/yaml/browser/index.js") },
    logLevel: "warning",
  });
  return outputFiles.map(({ path, text }) => {
    const [, name = "", extension = ""] = /([^/]+)\.(\w+)$/.exec(path) ?? [];
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
    // Chunks are named by esbuild, and other files refer to them.
    const isEntry = name === "page" || name === "style";
    return { path: isEntry ? `${name}-${hash}.${extension}` : `${name}.${extension}`, type: TYPES[extension] ?? "", text };
  });
}

function pageOf(files: readonly File[]): string {
  const pathOf = (start: string) => files.find(({ path }) => path.startsWith(start))?.path ?? "";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>k8ts</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${pathOf("style-")}">
<script type="module" src="${pathOf("page-")}"></script>
</head>
<body><div id="app"></div><noscript>The dashboard needs JavaScript.</noscript></body>
</html>
`;
}
