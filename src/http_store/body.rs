//! Bodies of answers, read into the engine's memory up to a limit.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use js_sys::{ArrayBuffer, Object, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{ReadableStreamDefaultReader, Response};

use super::js_value::{function, get, promise, set};
use crate::host;

/// Bodies from here on are read by pieces: Chromium takes twice as long to hand over some megabytes by `arrayBuffer()`.
const LARGE: u64 = 256 << 10;

/// Bytes of a piece that the host is asked to fill.
const PIECE: u32 = 1 << 20;

/// A body's stream, and how its bytes come.
pub(super) enum Pieces {
    /// The host chooses.
    Chunks(ReadableStreamDefaultReader),
    /// The host fills a buffer, which wanders to and fro.
    Filled(JsValue, ArrayBuffer),
}

impl Pieces {
    /// Reads of a stream of bytes; `None` where the host has no such reader, or the stream is another.
    fn filled(stream: &JsValue) -> Option<Self> {
        let options = Object::new();
        set(&options, "mode", &"byob".into());
        let reader = function(stream, "getReader")?
            .call1(stream, &options)
            .ok()?;
        Some(Self::Filled(reader, ArrayBuffer::new(PIECE)))
    }

    /// The next bytes, of which at least one is asked for and `left` are expected; `None` at the end.
    #[allow(
        clippy::future_not_send,
        reason = "it runs inside host::run_local, which is Send"
    )]
    async fn next(&mut self, left: u64) -> Result<Option<Uint8Array>, JsValue> {
        let step = match self {
            Self::Chunks(reader) => host::settled(reader.read()).await?,
            Self::Filled(reader, buffer) => {
                let length = u32::try_from(left).unwrap_or(PIECE).clamp(1, PIECE);
                let view = Uint8Array::new_with_byte_offset_and_length(buffer, 0, length);
                let options = Object::new();
                // A host that does not know it gives what it has.
                set(&options, "min", &length.into());
                let read = function(reader, "read").ok_or(JsValue::UNDEFINED)?;
                let answer = read.call2(reader, &view, &options)?;
                host::settled(promise(&answer)).await?
            }
        };
        let value = get(&step, "value").dyn_into::<Uint8Array>().ok();
        if let (Self::Filled(_, buffer), Some(value)) = (&mut *self, &value) {
            // What was lent is gone; what comes back is as large, unless somebody's own stream does otherwise.
            let back = value.buffer();
            let same = back.byte_length() == PIECE;
            *buffer = if same { back } else { ArrayBuffer::new(PIECE) };
        }
        match (get(&step, "done").is_truthy(), value) {
            (true, value) => Ok(value.filter(|last| last.length() > 0)),
            (false, Some(value)) => Ok(Some(value)),
            (false, None) => Err(JsValue::from_str("a body's chunk is not a Uint8Array")),
        }
    }

    #[allow(
        clippy::future_not_send,
        reason = "it runs inside host::run_local, which is Send"
    )]
    async fn cancel(self) {
        let reader = match self {
            Self::Chunks(reader) => reader.into(),
            Self::Filled(reader, _) => reader,
        };
        if let Some(cancel) = function(&reader, "cancel")
            && let Ok(cancelled) = cancel.call0(&reader)
        {
            // A body that cannot be cancelled is no fault of the answer.
            let _ = host::settled(promise(&cancelled)).await;
        }
    }
}

/// The body up to `limit` bytes, and whether that is all of it.
#[allow(
    clippy::future_not_send,
    reason = "it runs inside host::run_local, which is Send"
)]
pub(super) async fn body_of(
    response: &Response,
    headers: &HeaderMap,
    limit: u64,
) -> Result<(Bytes, bool), JsValue> {
    let stream = get(response, "body");
    if limit == 0 {
        if let Some(cancel) = function(&stream, "cancel")
            && let Ok(cancelled) = cancel.call0(&stream)
        {
            // A body that cannot be cancelled is no fault of the answer.
            let _ = host::settled(promise(&cancelled)).await;
        }
        return Ok((Bytes::new(), false));
    }
    let told = headers
        .get(CONTENT_LENGTH)
        .and_then(|v| v.to_str().ok()?.parse::<u64>().ok())
        .filter(|told| *told <= limit && !headers.contains_key(CONTENT_ENCODING));
    if let Some(told) = told.filter(|told| *told >= LARGE)
        && let Some(pieces) = Pieces::filled(&stream)
    {
        return read_up_to(pieces, told, limit).await;
    }
    let reader = function(&stream, "getReader");
    let (None, Some(reader)) = (told, reader) else {
        let buffer = host::settled(response.array_buffer()?).await?;
        let array = Uint8Array::new(&buffer);
        let ended = u64::from(array.length()) <= limit;
        let most = u32::try_from(limit).unwrap_or(u32::MAX);
        let array = if ended {
            array
        } else {
            array.subarray(0, most)
        };
        return Ok((array.to_vec().into(), ended));
    };
    let reader = Pieces::Chunks(reader.call0(&stream)?.unchecked_into());
    read_up_to(reader, 0, limit).await
}

/// A stream up to `limit` bytes, of which `told` are expected, and whether that is all of it.
#[allow(
    clippy::future_not_send,
    reason = "it runs inside host::run_local, which is Send"
)]
pub(super) async fn read_up_to(
    mut pieces: Pieces,
    told: u64,
    limit: u64,
) -> Result<(Bytes, bool), JsValue> {
    // What a header tells is believed up to the size of a usual request.
    let room = usize::try_from(told.min(8 << 20)).unwrap_or(0);
    let mut all: Vec<u8> = Vec::with_capacity(room);
    while let Some(piece) = pieces.next(told.saturating_sub(all.len() as u64)).await? {
        let room = limit.saturating_sub(all.len() as u64);
        if u64::from(piece.length()) > room {
            let most = u32::try_from(room).unwrap_or(u32::MAX);
            all.extend(piece.subarray(0, most).to_vec());
            pieces.cancel().await;
            return Ok((all.into(), false));
        }
        let at = all.len();
        all.resize(at + piece.length() as usize, 0);
        if let Some(room) = all.get_mut(at..) {
            piece.copy_to(room);
        }
    }
    Ok((all.into(), true))
}
