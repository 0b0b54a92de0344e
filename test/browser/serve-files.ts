/**
 * Serves the bundled page on loopback: `node serve-files.js DIRECTORY`. A process of its own, so that a test can run it in
 * the network namespace of its browser. Prints its URL.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, resolve } from "node:path";
import type { AddressInfo } from "node:net";

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
};

/** The page must work below any path. */
const PREFIX = "/some/where";

const directory = resolve(process.argv[2] ?? "");
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const file = join(directory, pathname.slice(PREFIX.length).replace(/\/$/, "/index.html"));
  if (!pathname.startsWith(`${PREFIX}/`) || !file.startsWith(directory) || !existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://127.0.0.1:${port}${PREFIX}/`);
});
