/**
 * One-time codes and sessions of the dashboard. A code opens one session; a session holds the credential with which the code
 * was requested, so that every later request is authenticated and authorized as if its owner had sent it, and fails as soon as the
 * credential itself is no longer accepted. Codes and session tokens are kept as hashes, in memory only: a restart ends all sessions. Not
 * here: HTTP (dashboard-exchange.ts).
 */
import { sha256Hex } from "../../base/crypto/hash.ts";
import type { Clock } from "../../base/clock.ts";
import { SESSION_PREFIX } from "../data/paths.ts";
import type { Credential } from "./credential.ts";

/** Long enough to start a browser, short enough that a link in a shell's history is worthless. */
export const CODE_LIFETIME_MS = 60_000;

/** A working day. */
export const SESSION_LIFETIME_MS = 12 * 3_600_000;

/** A tab that is open renews it with every request; one that was closed without logout ends here. */
export const SESSION_IDLE_MS = 3_600_000;

/**
 * Of a few hundred bytes each. The oldest is dropped: a person needs one at a time. The limit per user is lower, so that no user displaces those of
 * all others.
 */
export const CODES_MAX = { all: 100, perUser: 10 } as const;
export const SESSIONS_MAX = { all: 1_000, perUser: 100 } as const;

interface Code {
  readonly user: string;
  readonly credential: Credential;
  readonly expiresMs: number;
  /** Of the session that was opened with it. Absent: not used yet. */
  sessionKey?: string;
}

interface Session {
  readonly user: string;
  readonly credential: Credential;
  readonly endsMs: number;
  usedMs: number;
}

/** The prefix and 256 bits in base64url, which the page chooses. */
const SESSION_TOKEN = new RegExp(`^${SESSION_PREFIX}[\\w-]{43}$`);

export class Sessions {
  readonly #clock: Clock;
  readonly #secret: () => string;
  readonly #codes = new Map<string, Code>();
  readonly #sessions = new Map<string, Session>();

  /** `secret` returns an unguessable string. */
  constructor({ clock, secret }: { readonly clock: Clock; readonly secret: () => string }) {
    this.#clock = clock;
    this.#secret = secret;
  }

  createCode(credential: Credential, user: string): string {
    const code = this.#secret();
    insert(this.#codes, keyOf(code), { user, credential, expiresMs: this.#clock.monotonic() + CODE_LIFETIME_MS }, CODES_MAX);
    return code;
  }

  /**
   * Opens a session with a token that its page has chosen, so that a page that lost the response can repeat the request. False: the code is
   * unknown, expired or used for another token, or the token has another form.
   */
  open(code: string, token: string): boolean {
    const found = this.#codes.get(keyOf(code));
    const now = this.#clock.monotonic();
    if (found === undefined || found.expiresMs <= now || !SESSION_TOKEN.test(token)) return false;
    const key = keyOf(token);
    if (found.sessionKey !== undefined) return found.sessionKey === key && this.#sessions.has(key);
    if (this.#sessions.has(key)) return false;
    found.sessionKey = key;
    const { user, credential } = found;
    insert(this.#sessions, key, { user, credential, endsMs: now + SESSION_LIFETIME_MS, usedMs: now }, SESSIONS_MAX);
    return true;
  }

  /** Undefined: unknown or expired. */
  credentialOf(token: string): Credential | undefined {
    const key = keyOf(token);
    const session = this.#sessions.get(key);
    if (session === undefined) return undefined;
    const now = this.#clock.monotonic();
    if (session.endsMs <= now || session.usedMs + SESSION_IDLE_MS <= now) {
      this.#sessions.delete(key);
      return undefined;
    }
    session.usedMs = now;
    return session.credential;
  }

  /** Idempotent. */
  close(token: string): void {
    this.#sessions.delete(keyOf(token));
  }
}

/** Maps iterate in the order of insertion, so the first entry is the oldest. */
function insert<T extends { readonly user: string }>(
  into: Map<string, T>,
  key: string,
  value: T,
  { all, perUser }: { readonly all: number; readonly perUser: number },
): void {
  const own = [...into].filter(([, { user }]) => user === value.user).map(([ownKey]) => ownKey);
  const oldest = own.length >= perUser ? own[0] : into.size >= all ? into.keys().next().value : undefined;
  if (oldest !== undefined) into.delete(oldest);
  into.set(key, value);
}

function keyOf(secret: string): string {
  return sha256Hex(new TextEncoder().encode(secret));
}
