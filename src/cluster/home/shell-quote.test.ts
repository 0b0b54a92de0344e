import { equal } from "node:assert/strict";
import { test } from "node:test";
import { homeArguments } from "./home-flags.ts";
import { shellQuote } from "../../cli/framework/shell-quote.ts";

const rows: readonly (readonly [text: string, word: string])[] = [
  ["/srv/k8ts-1/data_2", "/srv/k8ts-1/data_2"],
  ["C:/a@b%c+d,e.f", "C:/a@b%c+d,e.f"],
  ["/tmp/a b", "'/tmp/a b'"],
  ["/tmp/'q\"", `'/tmp/'\\''q"'`],
  ["/tmp/$HOME", "'/tmp/$HOME'"],
  ["/tmp/`id`", "'/tmp/`id`'"],
  ["/tmp/a\\b", "'/tmp/a\\b'"],
  ["/tmp/a;b&c|d", "'/tmp/a;b&c|d'"],
  ["/tmp/*?[a]", "'/tmp/*?[a]'"],
  ["~/a", "'~/a'"],
  ["#a", "'#a'"],
  ["a\nb", "'a\nb'"],
  ["plain\n", "'plain\n'"],
  ["größe", "'größe'"],
  ["", "''"],
];

for (const [text, word] of rows)
  test(`a shell reads ${JSON.stringify(text)} back from ${JSON.stringify(word)}`, () => equal(shellQuote(text), word));

test("the flags that select a cluster can be pasted into a shell", () => {
  const place = { name: "default", isNamedPlace: false };

  equal(homeArguments({ ...place, directory: `/tmp/a b 'q"` }), ` --data-dir '/tmp/a b '\\''q"'`);
  equal(homeArguments({ ...place, directory: "/srv/k8ts" }), " --data-dir /srv/k8ts");
});
