import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { HtmlLinks } from "./html-links.ts";
import { rewriteLink, type ProxiedPlace } from "../verbs/connect/proxied-links.ts";

const PREFIX = "/api/v1/namespaces/x/pods/y/proxy";
const PLACE: ProxiedPlace = { hosts: ["10.0.0.1", "10.0.0.1:8080"], requestHost: "api.example", prefix: PREFIX };

function rewritten(page: string, pieceLength = page.length): string {
  const links = new HtmlLinks((link) => rewriteLink(link, PLACE));
  let written = "";
  for (let at = 0; at < page.length; at += pieceLength) written += links.write(page.slice(at, at + pieceLength));
  return written + links.end();
}

/** "@" stands for the path of the proxy. */
const pages: readonly [page: string, expected: string][] = [
  ['<a href="/rewriteme">test</a>', '<a href="@/rewriteme">test</a>'],
  ['<a href="http://10.0.0.1:8080/a?b#c">', '<a href="@/a?b#c">'],
  ['<a href="https://10.0.0.1/a">', '<a href="@/a">'],
  ['<a href="//10.0.0.1/a">', '<a href="@/a">'],
  ['<a href="https://api.example/a">', '<a href="https://api.example@/a">'],
  ['<a href="https://elsewhere.example/a">', '<a href="https://elsewhere.example/a">'],
  ['<a href="a/b">', '<a href="a/b">'],
  ['<a href="#top">', '<a href="#top">'],
  ['<a href="mailto:a@b">', '<a href="mailto:a@b">'],
  ['<a href="/%zz">', '<a href="/%zz">'],
  ['<a href="@/already">', '<a href="@/already">'],
  ['<a href="/a/">', '<a href="@/a/">'],
  ["<A\n HREF = '/a' class=x>", '<A\n HREF = "@/a" class=x>'],
  ["<a href=/a>", '<a href="@/a">'],
  ["<a href=/a/>", '<a href="@/a/">'],
  ["<a href>", "<a href>"],
  ["<a href=>", "<a href=>"],
  ['<a href="/x?a=1&amp;b=2">', '<a href="@/x?a=1&amp;b=2">'],
  ['<a href="&#x2F;x&#47;y">', '<a href="@/x/y">'],
  ["<a href='/a\"b'>", '<a href="@/a&#34;b">'],
  ['<a href="/&uuml;&amp;">', '<a href="@/&uuml;&amp;">'],
  ['<a title=">" href="/z">', '<a title=">" href="@/z">'],
  ['<img src="/s" alt="/no" longdesc="/l" usemap="/u"/>', '<img src="@/s" alt="/no" longdesc="@/l" usemap="@/u"/>'],
  ['<p href="/no">', '<p href="/no">'],
  ['<form action="/f"><input formaction="/g" value="/no">', '<form action="@/f"><input formaction="@/g" value="/no">'],
  ['<link rel=stylesheet href=/s.css><base href="/">', '<link rel=stylesheet href="@/s.css"><base href="@/">'],
  ['<script src="/s.js">"<a href=\'/no\'>"</script><a href="/y">', '<script src="@/s.js">"<a href=\'/no\'>"</script><a href="@/y">'],
  ["<title><a href=/no></TITLE ><a href=/y>", '<title><a href=/no></TITLE ><a href="@/y">'],
  ["<plaintext><a href=/no></plaintext><a href=/no>", "<plaintext><a href=/no></plaintext><a href=/no>"],
  ["<!-- <a href=/no> --><a href=/y>", '<!-- <a href=/no> --><a href="@/y">'],
  ["<!--><a href=/y>", '<!--><a href="@/y">'],
  ["<!DOCTYPE html><?xml a?></a href=/no>1 < 2 <3<a href=/y>", '<!DOCTYPE html><?xml a?></a href=/no>1 < 2 <3<a href="@/y">'],
  ['text <a href="/unfinished', 'text <a href="/unfinished'],
  ["<", "<"],
  ["<!-", "<!-"],
  ["", ""],
];

for (const [page, expected] of pages.map((row) => row.map((text) => text.replaceAll("@/", `${PREFIX}/`)))) {
  test(`the links of ${JSON.stringify(page)} are rewritten to the proxy, however the page is split into chunks`, () => {
    equal(rewritten(page ?? ""), expected);
    for (const pieceLength of [1, 2, 3, 5]) equal(rewritten(page ?? "", pieceLength), expected);
  });
}

test("the link rewriter buffers an unterminated tag only up to a limit", () => {
  const links = new HtmlLinks((link) => link);
  const piece = "x".repeat(64 * 1024);

  let written = links.write('<a href="').length;
  for (let count = 0; count < 32; count++) written += links.write(piece).length;

  deepEqual([written > 1024 * 1024, written + links.end().length], [true, 9 + 32 * piece.length]);
});

test("the link rewriter buffers at most 128 KiB of a tag with endless attributes, which bounds parsing time", () => {
  const links = new HtmlLinks((link) => link);
  const piece = "<a ".repeat(10_000);

  let written = 0;
  for (let count = 1; count <= 20; count++) {
    written += links.write(piece).length;
    equal(count * piece.length - written <= 128 * 1024, true, `${count} pieces`);
  }
});
