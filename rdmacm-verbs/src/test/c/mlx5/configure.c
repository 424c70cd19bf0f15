// SPDX-License-Identifier: Apache-2.0
// Configures memory keys with the functions of mlx5dv.h, for the test that compares the entries of the queue with those
// of Java. To be loaded into the process whose queue pair and keys it is given.
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

// As numbers: for T10 the guard, seed, application tag, reference tag and flags; for a checksum its type and seed.
struct domain {
    int type;
    int block;
    uint64_t values[5];
};

static struct mlx5dv_sig_t10dif dif[2];
static struct mlx5dv_sig_crc crc[2];
static struct mlx5dv_sig_block_domain domains[2];

static const struct mlx5dv_sig_block_domain *prepare(const struct domain *from, int index) {
    if (!from) return NULL;
    struct mlx5dv_sig_block_domain *to = &domains[index];
    memset(to, 0, sizeof *to);
    to->sig_type = from->type;
    to->block_size = from->block;
    if (from->type == MLX5DV_SIG_TYPE_T10DIF) {
        dif[index] = (struct mlx5dv_sig_t10dif){.bg_type = from->values[0], .bg = from->values[1],
            .app_tag = from->values[2], .ref_tag = from->values[3], .flags = from->values[4]};
        to->sig.dif = &dif[index];
    } else {
        crc[index] = (struct mlx5dv_sig_crc){.type = from->values[0], .seed = from->values[1]};
        to->sig.crc = &crc[index];
    }
    return to;
}

static struct mlx5dv_qp_ex *begin(struct ibv_qp *pair, struct mlx5dv_mkey *key, int setters) {
    struct ibv_qp_ex *extended = ibv_qp_to_qp_ex(pair);
    struct mlx5dv_qp_ex *mlx5 = mlx5dv_qp_ex_from_ibv_qp_ex(extended);
    struct mlx5dv_mkey_conf_attr attributes = {0};
    ibv_wr_start(extended);
    extended->wr_id = 1;
    extended->wr_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
    mlx5dv_wr_mkey_configure(mlx5, key, setters, &attributes);
    return mlx5;
}

int configure_signature(struct ibv_qp *pair, struct mlx5dv_mkey *key, const struct ibv_sge *part,
        const struct domain *memory, const struct domain *wire, int check, int copy) {
    struct mlx5dv_qp_ex *mlx5 = begin(pair, key, 3);
    struct mlx5dv_sig_block_attr attributes = {.mem = prepare(memory, 0), .wire = prepare(wire, 1),
        .check_mask = check, .flags = copy >= 0 ? MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK : 0,
        .copy_mask = copy >= 0 ? copy : 0};
    mlx5dv_wr_set_mkey_access_flags(mlx5, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    mlx5dv_wr_set_mkey_layout_list(mlx5, 1, part);
    mlx5dv_wr_set_mkey_sig_block(mlx5, &attributes);
    return ibv_wr_complete(ibv_qp_to_qp_ex(pair));
}

int configure_encryption(struct ibv_qp *pair, struct mlx5dv_mkey *key, const struct ibv_sge *part,
        struct mlx5dv_dek *dek, int encrypt_on_tx, int order, int unit, const char *tweak, const char *tag) {
    struct mlx5dv_qp_ex *mlx5 = begin(pair, key, 3);
    struct mlx5dv_crypto_attr attributes = {.crypto_standard = MLX5DV_CRYPTO_STANDARD_AES_XTS,
        .encrypt_on_tx = encrypt_on_tx, .signature_crypto_order = order, .data_unit_size = unit, .dek = dek};
    memcpy(attributes.initial_tweak, tweak, sizeof attributes.initial_tweak);
    memcpy(attributes.keytag, tag, sizeof attributes.keytag);
    mlx5dv_wr_set_mkey_access_flags(mlx5, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    mlx5dv_wr_set_mkey_layout_list(mlx5, 1, part);
    mlx5dv_wr_set_mkey_crypto(mlx5, &attributes);
    return ibv_wr_complete(ibv_qp_to_qp_ex(pair));
}

// Creates an encryption key, and destroys it: the test compares the commands.
int create_key(struct ibv_context *context, struct ibv_pd *domain, int size, int has_tag, const char *note,
        const char *bytes, int length) {
    struct mlx5dv_dek_init_attr attributes = {.key_size = size, .has_keytag = has_tag,
        .key_purpose = MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS, .pd = domain,
        .comp_mask = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN};
    memcpy(attributes.opaque, note, sizeof attributes.opaque);
    memcpy(attributes.key, bytes, length);
    struct mlx5dv_dek *key = mlx5dv_dek_create(context, &attributes);
    return key ? mlx5dv_dek_destroy(key) : -1;
}

// The same for a login.
int log_in(struct ibv_context *context, int credential_id, int wrapping_key, const char *credential) {
    struct mlx5dv_crypto_login_attr_ex attributes = {.credential_id = credential_id, .import_kek_id = wrapping_key,
        .credential = credential, .credential_len = 48};
    struct mlx5dv_crypto_login_obj *login = mlx5dv_crypto_login_create(context, &attributes);
    return login ? mlx5dv_crypto_login_destroy(login) : -1;
}
