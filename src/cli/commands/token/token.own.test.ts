import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Disposables } from "../../../base/disposables.ts";
import { silentLogger } from "../../../base/logger.ts";
import { makeTemporaryDirectory } from "../../../host/files/private-files.ts";
import { realClock } from "../../../host/real-clock.ts";
import { startTestApiServer, type TestApiServer } from "../../../testing/servers/api-server.ts";
import type { Command, Io } from "../../framework/command.ts";
import { tokenCreate } from "./token-create.ts";
import { tokenDelete } from "./token-delete.ts";
import { tokenGenerate } from "./token-generate.ts";
import { tokenLines, tokenList } from "./token-list.ts";

interface Ran {
  readonly out: readonly string[];
  readonly notes: readonly string[];
}

async function run<Options>(
  command: Command<Options>,
  words: readonly string[],
  environment: Io["environment"] = { HOME: "/" },
): Promise<Ran> {
  const parsed = command.parse(words, environment);
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  const [out, notes]: [string[], string[]] = [[], []];
  const { signal } = new AbortController();
  await command.run(parsed.options, {
    out: (line) => void out.push(line),
    note: (line) => void notes.push(line),
    ...{ environment, clock: realClock, log: silentLogger, signal },
  });
  return { out, notes };
}

describe("k8ts token", () => {
  const ends = new Disposables();
  let server: TestApiServer;
  let kubeconfig: string;

  before(async () => {
    server = ends.use(await startTestApiServer());
    kubeconfig = `--kubeconfig=${server.kubeconfig}`;
  });
  after(() => ends[Symbol.asyncDispose]());

  test("create prints the join command, warns about an API server on loopback, and list and delete know the token", async () => {
    const { out, notes } = await run(tokenCreate, [kubeconfig, "--ttl=2h", "--description=rack 7"]);
    const [, address, token = ""] =
      /^k8ts join (\S+) --token (\S+) --discovery-token-ca-cert-hash sha256:[0-9a-f]{64}$/.exec(out.join("\n")) ?? [];
    equal(`https://${address}`, server.url);
    match(notes.join("\n"), /^Warning: The API server listens on 127\.0\.0\.1:\d+ only, .*--listen ADDRESS:PORT/);

    const listed = JSON.parse((await run(tokenList, [kubeconfig, "-o", "json"])).out.join("\n")) as readonly Readonly<
      Record<string, unknown>
    >[];
    const found = listed.find((one) => one["token"] === token);
    deepEqual(
      [found?.["description"], found?.["usages"], found?.["groups"]],
      ["rack 7", ["signing", "authentication"], ["system:bootstrappers:kubeadm:default-node-token"]],
    );

    const id = token.slice(0, 6);
    deepEqual((await run(tokenDelete, [kubeconfig, token])).out, [`Deleted token ${id}`]);
    await rejects(run(tokenDelete, [kubeconfig, id]), /Cannot delete token \w{6}: there is no such token; "k8ts token list" lists them/);
  });

  test("create --quiet prints only the token, also a given one, which must be new", async () => {
    const [token = ""] = (await run(tokenGenerate, [])).out;
    deepEqual((await run(tokenCreate, [kubeconfig, token, "--quiet"])).out, [token]);
    deepEqual(
      (await run(tokenCreate, [kubeconfig, "-q"])).out.map((one) => one.length),
      [23],
    );
    await rejects(run(tokenCreate, [kubeconfig, token]), /it already exists; delete it with "k8ts token delete \w{6}"/);
  });

  test("without a running cluster the remedy is reported", async () => {
    await using directory = await makeTemporaryDirectory("k8ts-token-");
    await rejects(
      run(tokenCreate, [], { HOME: directory.path }),
      /cluster "default" is not running; start it with "k8ts up", or set --kubeconfig/,
    );
  });
});

const INVALID: readonly (readonly [words: readonly string[], problem: RegExp])[] = [
  [["nothing"], /^TOKEN must have the form/],
  [["--ttl=-1h"], /--ttl must be a duration/],
  [["--groups=system:masters"], /--groups must be a group that begins with system:bootstrappers:/],
  [["--usages=everything"], /--usages/],
  [["--quiet", "--print-join-command"], /mutually exclusive/],
];

for (const [words, problem] of INVALID) {
  test(`k8ts token create ${words.join(" ")} is rejected`, () => {
    const parsed = tokenCreate.parse(words, { HOME: "/" });
    match(parsed.ok ? "" : parsed.problems.join("\n"), problem);
  });
}

test("the table of tokens has kubeadm's columns", () => {
  const tokens = [
    { token: "abcdef.0123456789abcdef", usages: ["signing"], groups: [] },
    {
      token: "bcdefg.0123456789abcdef",
      expires: "2026-01-02T00:00:00Z",
      ttlMs: 86_400_000,
      usages: [],
      description: "rack 7",
      groups: ["g"],
    },
  ];
  deepEqual(tokenLines(tokens), [
    "TOKEN                     TTL         EXPIRES                USAGES    DESCRIPTION   EXTRA GROUPS",
    "abcdef.0123456789abcdef   <forever>   <never>                signing   <none>        <none>",
    "bcdefg.0123456789abcdef   24h         2026-01-02T00:00:00Z   <none>    rack 7        g",
  ]);
});
