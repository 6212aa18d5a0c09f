// Talking to the service: a token in a header, errors in words, live updates.

const KEY = "eventide-token";
export class ApiError extends Error {
  constructor(message, next, status) {
    super(message);
    this.next = next;
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

function headers(more = {}) {
  const held = token.get();
  return held ? { ...more, Authorization: `Bearer ${held}` } : more;
}

export async function ask(path, { method = "GET", body, signal } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      signal,
      headers: headers(body === undefined ? {} : { "Content-Type": "application/json" }),
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The service cannot be reached.", "Is it still running?", 0);
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    if (answer.status === 401) window.dispatchEvent(new Event("need-token"));
    throw new ApiError(told.error ?? `The service answered ${answer.status}.`, told.next, answer.status);
  }
  return told;
}

export const id = (text) => text.split("/").map(encodeURIComponent).join("/");

export function query(values) {
  const kept = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return kept.length ? `?${new URLSearchParams(kept)}` : "";
}

// Server-sent events by fetch, because EventSource cannot send a token.
export async function listen(told, state) {
  for (let wait = 1000; ; wait = Math.min(wait * 2, 15000)) {
    try {
      const answer = await fetch("/v1/updates", { headers: headers(), cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      state(true);
      wait = 1000;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let kept = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        kept += value;
        const parts = kept.split("\n\n");
        kept = parts.pop();
        for (const part of parts) {
          const kind = /^event: (\w+)$/m.exec(part)?.[1];
          const data = /^data: (.*)$/m.exec(part)?.[1];
          if (kind) told(kind, data ? JSON.parse(data) : {});
        }
      }
    } catch {
      // It is tried again below.
    }
    state(false);
    await new Promise((done) => setTimeout(done, wait));
  }
}
