package providers

import (
	"crypto/ecdsa"
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// appleSecretMaxAge is the longest that Apple accepts.
const appleSecretMaxAge = 180 * 24 * time.Hour

// AppleSecret makes the client secret that [Apple] wants: a token, signed with a key of the
// developer account, by which a team vouches for a client (a Services ID). It is valid from now on
// for 180 days, so a program that runs longer must be started anew
// (https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret).
// It fails if the key is not one of the P-256 curve.
func AppleSecret(teamID, clientID, keyID string, key *ecdsa.PrivateKey) (string, error) {
	if key == nil || key.Curve == nil || key.Curve.Params().BitSize != 256 {
		return "", errors.New("providers: the key for Apple is not an ECDSA key of the P-256 curve")
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: keyID}}, nil)
	if err != nil {
		return "", errors.New("providers: the key for Apple can't sign")
	}
	now := time.Now()
	return jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: teamID, Subject: clientID, Audience: jwt.Audience{"https://appleid.apple.com"},
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(appleSecretMaxAge)),
	}).Serialize()
}
