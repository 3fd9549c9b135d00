//! SHA-256 and HMAC for request signatures, in pure Rust: `object_store`'s own providers need C or assembly.

use object_store::client::{
    CryptoProvider, DigestAlgorithm, DigestContext, HmacContext, Signer, SigningAlgorithm,
};
use object_store::{Error, Result};
use sha2::{Digest, Sha256};

/// Block length of SHA-256 in bytes.
const BLOCK: usize = 64;

#[derive(Debug)]
pub(super) struct Sha2;

impl CryptoProvider for Sha2 {
    fn digest(&self, algorithm: DigestAlgorithm) -> Result<Box<dyn DigestContext>> {
        only_sha256(&algorithm)?;
        Ok(Box::new(Plain {
            state: Sha256::new(),
            out: [0; 32],
        }))
    }

    fn hmac(&self, algorithm: DigestAlgorithm, secret: &[u8]) -> Result<Box<dyn HmacContext>> {
        only_sha256(&algorithm)?;
        Ok(Box::new(Keyed::new(secret)))
    }

    fn sign(&self, _: SigningAlgorithm, _: &[u8]) -> Result<Box<dyn Signer>> {
        Err(unsupported("RSA signatures"))
    }
}

fn only_sha256(algorithm: &DigestAlgorithm) -> Result<()> {
    match algorithm {
        DigestAlgorithm::Sha256 => Ok(()),
        _ => Err(unsupported("digests other than SHA-256")),
    }
}

fn unsupported(what: &str) -> Error {
    Error::NotSupported {
        source: what.to_owned().into(),
    }
}

struct Plain {
    state: Sha256,
    out: [u8; 32],
}

impl DigestContext for Plain {
    fn update(&mut self, data: &[u8]) {
        self.state.update(data);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        self.out = self.state.finalize_reset().into();
        Ok(&self.out)
    }
}

/// HMAC as RFC 2104 has it: H(key ^ opad, H(key ^ ipad, text)).
struct Keyed {
    inner: Sha256,
    outer: Sha256,
    out: [u8; 32],
}

impl Keyed {
    fn new(secret: &[u8]) -> Self {
        let mut key = [0; BLOCK];
        let hashed: [u8; 32] = Sha256::digest(secret).into();
        let short = if secret.len() > BLOCK {
            &hashed[..]
        } else {
            secret
        };
        key.iter_mut().zip(short).for_each(|(to, from)| *to = *from);
        let keyed = |pad: u8| Sha256::new().chain_update(key.map(|byte| byte ^ pad));
        Self {
            inner: keyed(0x36),
            outer: keyed(0x5c),
            out: [0; 32],
        }
    }
}

impl HmacContext for Keyed {
    fn update(&mut self, data: &[u8]) {
        self.inner.update(data);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        let inner = self.inner.finalize_reset();
        self.outer.update(inner);
        self.out = self.outer.finalize_reset().into();
        Ok(&self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &[u8], text: &[u8], expected: &str) {
        let mut context = Sha2.hmac(DigestAlgorithm::Sha256, key).unwrap();
        context.update(text);
        let hex: String = context
            .finish()
            .unwrap()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(hex, expected);
    }

    #[test]
    fn hmacs_are_those_of_rfc_4231() {
        check(
            &[0x0b; 20],
            b"Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        );
        check(
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        );
    }
}
