/** Order is the order of asking; no two answer the same path. */
import type { DocumentFactory } from "../document.ts";

export const all: readonly DocumentFactory[] = [];
