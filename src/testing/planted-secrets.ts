/**
 * Secrets that nobody needs, given to every server of the tests so that they can be looked for in whatever comes out of it: no log line,
 * no warning and no line of a test run may have one. The runner of the tests looks for them in everything that test processes print
 * (tools/test); the servers of the tests look at every line of their own log (watchedLog).
 * They are put together from parts, so that a line of this source in a stack is not taken for one of them.
 */
import { formatHuman, type LogSink } from "../base/logger.ts";

const mark = (what: string): string => ["planted", what, "9c41e7"].join("-");

export const PLANTED = {
  /** In the data of the Secret kube-system/planted. */
  secretData: mark("secret-data"),
  /** A token of --token-auth-file; its user is "planted". */
  staticToken: mark("static-token"),
  /** Of the bootstrap token "plantd.<this>". */
  bootstrapSecret: ["0planted", "9c41e7ab"].join(""),
  /** For URLs: https://user:<this>@host. */
  password: mark("password"),
  /** What stands between the first and the last line of a private key. */
  privateKey: mark("private-key"),
} as const;

/** The line of a file of tokens. */
export const PLANTED_TOKENS = `${PLANTED.staticToken},planted,planted\n`;

/** What a server of the tests keeps from its start. */
export const PLANTED_SECRETS = [
  { metadata: { name: "planted" }, stringData: { key: PLANTED.secretData } },
  {
    metadata: { name: "bootstrap-token-plantd" },
    type: "bootstrap.kubernetes.io/token",
    stringData: { "token-id": "plantd", "token-secret": PLANTED.bootstrapSecret, "usage-bootstrap-authentication": "true" },
  },
] as const;

export const PLANTED_PATH = "/api/v1/namespaces/kube-system/secrets";

/** Puts them there; those that are there already stay. */
export async function plant(ask: (method: string, path: string, body: object) => Promise<{ readonly code: number }>): Promise<void> {
  for (const secret of PLANTED_SECRETS) {
    const { code } = await ask("POST", PLANTED_PATH, secret);
    if (code !== 201 && code !== 409) throw new Error(`Cannot plant the Secret ${secret.metadata.name}: the server answered ${code}`);
  }
}

export const BOOTSTRAP_TOKEN = `plantd.${PLANTED.bootstrapSecret}`;

/** What was planted, by name; undefined: nothing of it is in the text, neither as it is nor as base64. */
export function plantedIn(text: string): string | undefined {
  return FORMS.find(({ forms }) => forms.some((form) => text.includes(form)))?.name;
}

interface Forms {
  readonly name: string;
  readonly forms: readonly string[];
}

const FORMS: readonly Forms[] = Object.entries(PLANTED).map(([name, value]) => ({ name, forms: [value, ...base64Forms(value)] }));

/** Of a longer text in base64, what is in it begins at one of three places of a group of letters. The letters at its ends are others' too. */
function base64Forms(value: string): readonly string[] {
  return [0, 1, 2].map((offset) => btoa(`${" ".repeat(offset)}${value}`).slice(offset === 0 ? 0 : offset + 1, -4));
}

/** A signed token, or a private key, whoever made it: of these no log has one. */
const ISSUED = /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}|PRIVATE KEY-----/;

/** What must not be in a log; undefined: nothing. */
export function secretIn(line: string): string | undefined {
  return plantedIn(line) ?? (ISSUED.test(line) ? "a token or a private key" : undefined);
}

export interface WatchedLog {
  readonly sink: LogSink;
  /** Looks at a line that did not come by the sink. */
  see(line: string): void;
  /** Throws if there was a secret in any line. The lines are not shown: whoever reads the message must not read it either. */
  check(): void;
}

/** Takes every line; `handOn` gets those that are good. */
export function watchedLog(handOn: LogSink = () => undefined): WatchedLog {
  const found: string[] = [];
  const see = (line: string): void => {
    const secret = secretIn(line);
    if (secret !== undefined) found.push(`${secret} in a line that begins ${JSON.stringify(beginning(line))}`);
  };
  return {
    sink(line) {
      see(formatHuman(line));
      handOn(line);
    },
    see,
    check() {
      if (found.length > 0) throw new Error(`A server let out ${found.length} secrets:\n${found.join("\n")}`);
    },
  };
}

/** Enough to find the place that wrote it, and nothing after the first sign that could belong to a secret. */
function beginning(line: string): string {
  const words = line.split(" ").slice(0, 12);
  return words.filter((word) => secretIn(word) === undefined).join(" ");
}
