// A stream that is cut anywhere, against a real server: each event once, in order, whatever happens in between.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { follow, type Link, type Listener } from "../src/net/stream";
import type { PartialStep, Recorded } from "../src/protocol";

const N = 8;
type Answer = (after: number, response: ServerResponse, round: number) => void;

let server: Server;
let answer: Answer;
let asked: number[];
const realFetch = globalThis.fetch;

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    const after = Number(request.headers["last-event-id"]);
    asked.push(after);
    answer(after, response, asked.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  globalThis.fetch = (input, init) => realFetch(`${base}${input}`, init);
});

afterEach(() => {
  globalThis.fetch = realFetch;
  server.closeAllConnections();
  server.close();
});

const frame = (seq: number) =>
  `id: ${seq}\ndata: ${JSON.stringify({ session_id: "s", seq, at: seq, event: { type: "StepStarted", v: 1 }, hash: "h" })}\n\n`;
const delta = (text: string) =>
  `data: ${JSON.stringify({ session_id: "s", seq: null, at: 0, event: { type: "TextDelta", text, v: 1 }, hash: null })}\n\n`;
const start = (after: number) =>
  `event: start\ndata: ${JSON.stringify({ session_id: "s", after, head: N, running: true })}\n\n`;

function begin(response: ServerResponse, after: number): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`retry: 2000\n${start(after)}`);
}

interface Heard {
  seqs: (number | null)[];
  partials: string[];
  links: Link[];
}

/** Follows until event N has come, or `over` says so. */
async function hear(over: (heard: Heard) => boolean = (heard) => heard.seqs.includes(N)): Promise<Heard> {
  const heard: Heard = { seqs: [], partials: [], links: [] };
  await new Promise<void>((resolve) => {
    const look = () => {
      if (!over(heard)) return;
      setTimeout(() => {
        stop();
        resolve();
      }, 30);
    };
    const keep = <T>(list: T[], value: T) => {
      list.push(value);
      look();
    };
    const listener: Listener = {
      start: look,
      item: (item: Recorded) => keep(heard.seqs, item.seq),
      partial: (partial: PartialStep) => keep(heard.partials, partial.text),
      link: (state) => keep(heard.links, state),
    };
    const stop = follow("s", 0, listener);
  });
  return heard;
}

const all = Array.from({ length: N }, (_, index) => index + 1);

it("that is cut at every event, in the middle of a frame, gives each event once", async () => {
  answer = (after, response) => {
    begin(response, after);
    for (let seq = after + 1; seq <= N; seq += 1) {
      if (seq === after + 2) {
        // The next one only half, and then nothing: it comes again with the next connection.
        response.write(frame(seq).slice(0, 25), () => response.destroy());
        return;
      }
      response.write(frame(seq));
    }
  };
  const heard = await hear();
  expect(heard.seqs).toEqual(all);
  expect(asked).toEqual(Array.from({ length: N }, (_, index) => index));
});

it("that repeats events, or leaves one out, gives each event once", async () => {
  answer = (after, response, round) => {
    begin(response, after);
    if (round === 1) response.write([1, 2, 2, 1, 3, 6, 7].map(frame).join(""));
    else response.write(all.map(frame).join(""));
  };
  expect((await hear()).seqs).toEqual(all);
  expect(asked).toEqual([0, 3]);
});

it("whose characters arrive one byte at a time is read as well", async () => {
  answer = async (after, response) => {
    begin(response, after);
    const bytes = Buffer.from(delta("价格 ¥12 👍") + all.map(frame).join(""));
    for (const byte of bytes.subarray(0, 260)) {
      response.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.write(bytes.subarray(260));
  };
  expect((await hear()).seqs).toEqual([null, ...all]);
});

it("hands on what was shown of an unfinished step", async () => {
  answer = (after, response) => {
    begin(response, after);
    response.write(
      `event: partial\ndata: ${JSON.stringify({ session_id: "s", step_seq: 1, text: "so far", reasoning: "" })}\n\n`,
    );
    response.write(`: ping\n\n${all.map(frame).join("")}`);
  };
  expect((await hear()).partials).toEqual(["so far"]);
});

it("says when it is lost and when it is back", async () => {
  answer = (after, response, round) => {
    if (round <= 3) response.destroy();
    else {
      begin(response, after);
      response.write(all.map(frame).join(""));
    }
  };
  const heard = await hear();
  expect(heard.links[0]).toBe("lost");
  expect(heard.links.at(-1)).toBe("live");
  expect(heard.seqs).toEqual(all);
});

it("ends where there is nothing, or nobody may look", async () => {
  for (const [status, link] of [
    [404, "gone"],
    [401, "refused"],
  ] as const) {
    answer = (_, response) => {
      response.writeHead(status, { "content-type": "application/problem+json" });
      response.end(JSON.stringify({ type: "urn:erpilot:problem:x", title: "no", status }));
    };
    asked = [];
    const heard = await hear((each) => each.links.length > 0);
    expect(heard.links).toEqual([link]);
    expect(asked).toHaveLength(1);
  }
});
